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

variable "instanceClasses" {
  type        = any
  default     = []
  description = "DVPInstanceClasses of the cluster; what they name has to be in DVP as well."
}
