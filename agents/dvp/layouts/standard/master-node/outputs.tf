output "master_ip_address_for_ssh" {
  value       = module.node.ip_address
  description = "Where the installer reaches the master."
}

output "node_internal_ip_address" {
  value       = module.node.ip_address
  description = "Address of the node in the cluster."
}

output "kubernetes_data_device_path" {
  value       = module.node.kubernetes_data_device_path
  description = "Device that is mounted for etcd."
}
