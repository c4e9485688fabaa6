output "master_ip_address_for_ssh" {
  value       = module.node.ip_address
  description = "Where the installer reaches the node."
}

output "node_internal_ip_address" {
  value       = module.node.ip_address
  description = "Address of the node in the cluster."
}
