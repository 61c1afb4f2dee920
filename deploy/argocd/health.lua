-- The health of a Transaction: Healthy once it is Committed; Degraded once it is RolledBack or Failed, or if it
-- cannot be processed; Suspended while it is a Draft or proposed; Progressing until then, with what it waits for.
local ready
local stalled
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type == "Ready" then ready = condition end
    if condition.type == "Stalled" then stalled = condition end
  end
end
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
local unfinished = "Progressing"
if obj.spec ~= nil and (obj.spec.lifecycle == "Draft" or obj.spec.lifecycle == "Proposed") then
  unfinished = "Suspended"
end
if ready == nil then
  return { status = unfinished, message = "waiting for the Janus controller" }
end
if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end
return { status = unfinished, message = ready.message }
