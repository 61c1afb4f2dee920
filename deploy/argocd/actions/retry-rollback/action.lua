-- Retries the rollback of a Transaction that is Failed because its rollback is incomplete.
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["backup.janus.io/retry-rollback"] = "argo-cd"
return obj
