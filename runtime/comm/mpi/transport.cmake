if(SHARDCC_MPI)
  add_transport(mpi PkgConfig::MPI)
endif()
