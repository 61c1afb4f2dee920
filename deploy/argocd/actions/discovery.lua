-- The actions on a Transaction: a rollback while it is active, or Committed and reversible; another attempt when a rollback is
-- incomplete.
local phase = "Pending"
local isIncomplete = false
local isReversible = false
if obj.status ~= nil then
  phase = obj.status.phase or phase
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition.type == "RolledBack" and condition.reason == "RollbackIncomplete" then isIncomplete = true end
    if condition.type == "Reversible" and condition.status == "True" then isReversible = true end
  end
end
local isActive = phase == "Pending" or phase == "Preparing" or phase == "Prepared" or phase == "Committing"
return {
  ["request-rollback"] = { ["disabled"] = not (isActive or isReversible) },
  ["retry-rollback"] = { ["disabled"] = not (phase == "Failed" and isIncomplete) },
}
