add_device(cpu ${DNNL})
