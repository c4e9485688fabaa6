variable "prefix" {
  type        = string
  description = "Prefix of the cluster's names."
}

variable "cluster_uuid" {
  type        = string
  description = "Uuid of the cluster."
}

variable "node_group" {
  type        = string
  description = "Name of the group that the node is in."
}

variable "index" {
  type        = number
  description = "Number of the node in its group, from 0."
}

variable "instance_class" {
  type        = any
  description = "What the node is made of: instanceClass of DVPClusterConfiguration."
}

variable "group_zones" {
  type        = list(string)
  description = "Zones that the group is limited to; none means all of the provider's."
}

variable "provider_configuration" {
  type        = any
  description = "DVPClusterConfiguration."
}

variable "cloud_config" {
  type        = string
  sensitive   = true
  description = "Base64 of what the node configures itself by at its first start."
}

variable "kubernetes_data_disk" {
  type        = any
  default     = null
  description = "Size and StorageClass of the disk for etcd; null for nodes without."
}
