// Included first by the host code of GPU kernels, so that a test has the functions of both targets.
#ifndef SHARDCC_TESTS_CUDA_RENAME_H
#define SHARDCC_TESTS_CUDA_RENAME_H

#define rt_kernels_free cuda_kernels_free
#define rt_copy cuda_copy
#define rt_fill cuda_fill
#define rt_pad cuda_pad
#define rt_reduce cuda_reduce
#define rt_gather cuda_gather
#define rt_scatter cuda_scatter
#define rt_grid_sample cuda_grid_sample
#define rt_grid_sample_grid_grad cuda_grid_sample_grid_grad
#define rt_grid_sample_input_grad cuda_grid_sample_input_grad
#define rt_arg_max cuda_arg_max
#define rt_cumsum cuda_cumsum
#define rt_resample cuda_resample
#define rt_dft cuda_dft
#define rt_top_k cuda_top_k
#define rt_max_pool cuda_max_pool
#define rt_max_pool_grad cuda_max_pool_grad
#define rt_sum_pool cuda_sum_pool
#define rt_sum_pool_grad cuda_sum_pool_grad
#define rt_conv_init cuda_conv_init
#define rt_conv cuda_conv
#define rt_conv_input_grad_init cuda_conv_input_grad_init
#define rt_conv_input_grad cuda_conv_input_grad
#define rt_conv_weight_grad_init cuda_conv_weight_grad_init
#define rt_conv_weight_grad cuda_conv_weight_grad
#define rt_dot_init cuda_dot_init
#define rt_dot cuda_dot
#define rt_attention cuda_attention
#define rt_attention_grad cuda_attention_grad

#endif
