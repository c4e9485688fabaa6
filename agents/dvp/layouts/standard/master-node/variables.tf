variable "providerClusterConfiguration" {
  type        = any
  description = "DVPClusterConfiguration."
}

variable "clusterConfiguration" {
  type        = any
  description = "ClusterConfiguration; its cloud.prefix begins all names."
}

variable "clusterUUID" {
  type        = string
  description = "Marks what belongs to the cluster in DVP."
  validation {
    condition     = var.clusterUUID != ""
    error_message = "The cluster has no uuid. Without one, its objects in DVP could not be told from others."
  }
}

variable "nodeIndex" {
  type        = number
  description = "Number of the node in its group, from 0."
}

variable "cloudConfig" {
  type        = string
  sensitive   = true
  description = "Base64 of what the node configures itself by at its first start."
}
