add_transport(loop)
