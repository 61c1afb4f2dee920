-- The actions on a Transaction: a rollback while it is active, another attempt when a rollback is incomplete.
local phase = "Pending"
local isIncomplete = false
if obj.status ~= nil then
  phase = obj.status.phase or phase
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition.type == "RolledBack" and condition.reason == "RollbackIncomplete" then isIncomplete = true end
  end
end
local isActive = phase == "Pending" or phase == "Preparing" or phase == "Prepared" or phase == "Committing"
return {
  ["request-rollback"] = { ["disabled"] = not isActive },
  ["retry-rollback"] = { ["disabled"] = not (phase == "Failed" and isIncomplete) },
}
