-- Requests the rollback of an active Transaction.
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["backup.janus.io/request-rollback"] = "argo-cd"
return obj
