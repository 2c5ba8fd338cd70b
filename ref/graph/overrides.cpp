#include "ref/graph/overrides.h"

#include <algorithm>

namespace writeback {
namespace {

using enum Correction;

constexpr std::string_view kOwnStorage = "returns its input where there is nothing to do";
constexpr std::string_view kMetadata = "only the shape, dtype and device of its arguments matter";
constexpr std::string_view kFills = "writes every cell, whatever was there";
constexpr std::string_view kStatistics = "updates the running statistics when training";
constexpr std::string_view kFresh = "the new cells hold whatever was there";
constexpr std::string_view kSwitchesStorage = "changes which storage its argument has, or how large it is";
constexpr std::string_view kAssert = "fails where its condition does not hold";
constexpr std::string_view kTest = "an op of torch's own tests that may return its input";
constexpr std::string_view kLeavesOut = "torch 2.13 does not write out where only one dimension is transformed";
constexpr std::string_view kFunctionalFill = "the functional form of an op that writes every cell";

constexpr Override kOverrides[] = {
    // Annotated as views; at run time they may copy.
    {"aten::reshape", may_alias, "", "", "a view where the strides allow it, else a copy"},
    {"aten::reshape_as", may_alias, "", "", "a view where the strides allow it, else a copy"},
    {"aten::flatten", may_alias, "", "", "a view where the strides allow it, else a copy"},
    {"aten::ravel", may_alias, "", "", "a view where the strides allow it, else a copy"},
    {"aten::contiguous", may_alias, "", "", kOwnStorage},
    {"aten::to", may_alias, "", "", kOwnStorage},
    {"aten::cpu", may_alias, "", "", kOwnStorage},
    {"aten::cuda", may_alias, "", "", kOwnStorage},
    {"aten::resolve_conj", may_alias, "", "", kOwnStorage},
    {"aten::resolve_neg", may_alias, "", "", kOwnStorage},
    {"aten::coalesce", may_alias, "", "", kOwnStorage},
    {"aten::pin_memory", may_alias, "", "", kOwnStorage},
    {"aten::lift_fresh", may_alias, "", "", "an alias in eager mode, a copy under functionalization"},
    {"aten::_autocast_to_reduced_precision", may_alias, "", "", kOwnStorage},
    {"aten::_autocast_to_full_precision", may_alias, "", "", kOwnStorage},

    // Not annotated; at run time they may return their input, or a view of it.
    {"aten::_unsafe_view", may_alias, "", "", "a view whose annotation is left out on purpose"},
    {"aten::unsafe_split", may_alias, "", "", "a view whose annotation is left out on purpose"},
    {"aten::unsafe_split_with_sizes", may_alias, "", "", "a view whose annotation is left out on purpose"},
    {"aten::unsafe_chunk", may_alias, "", "", "a view whose annotation is left out on purpose"},
    {"aten::lift", may_alias, "", "", "an alias in eager mode, a copy under functionalization"},
    {"aten::data", may_alias, "", "", "a detached view"},
    {"aten::meshgrid", may_alias, "tensors", "", "expanded views of its inputs"},
    {"aten::broadcast_tensors", may_alias, "tensors", "", "expanded views of its inputs"},
    {"aten::atleast_1d", may_alias, "", "", kOwnStorage},
    {"aten::atleast_2d", may_alias, "", "", kOwnStorage},
    {"aten::atleast_3d", may_alias, "", "", kOwnStorage},
    {"aten::cartesian_prod", may_alias, "tensors", "", "returns the only tensor of its list"},
    {"aten::einsum", may_alias, "tensors", "", "a permuted view of its only operand"},
    {"aten::chain_matmul", may_alias, "matrices", "", "returns the only matrix of its list"},
    {"aten::dequantize", may_alias, "", "", "returns a tensor that is no quantized one"},
    {"aten::unflatten_dense_tensors", may_alias, "flat", "", "views of the flat tensor"},
    {"aten::_reshape_from_tensor", may_alias, "self", "", "a view where the strides allow it, else a copy"},
    {"prims::device_put", may_alias, "", "", kOwnStorage},
    {"aten::to_dense", may_alias, "", "", "returns a tensor that is dense already"},
    {"aten::type_as", may_alias, "self", "", kOwnStorage},
    {"aten::sum_to_size", may_alias, "", "", kOwnStorage},
    {"aten::conj_physical", may_alias, "", "", "returns a real input"},
    {"aten::_cast_Byte", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Char", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Double", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Float", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Half", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Int", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Long", may_alias, "", "", kOwnStorage},
    {"aten::_cast_Short", may_alias, "", "", kOwnStorage},
    {"aten::_to_cpu", may_alias, "", "", kOwnStorage},
    {"aten::histogramdd.TensorList_bins", may_alias, "bins", "", "returns the edges that it was given"},
    {"aten::set.source_Tensor", may_alias, "source", "", kSwitchesStorage},
    {"aten::cumprod_backward", may_alias, "grad", "", kOwnStorage},
    {"aten::to_dense_backward", may_alias, "grad", "", kOwnStorage},
    {"aten::_remove_batch_dim", may_alias, "", "", kOwnStorage},
    {"aten::_foobar", may_alias, "", "", kTest},
    {"aten::_test_optional_filled_intlist", may_alias, "", "", kTest},
    {"aten::_test_optional_floatlist", may_alias, "", "", kTest},
    {"aten::_test_optional_intlist", may_alias, "", "", kTest},
    {"aten::_test_parallel_materialize", may_alias, "", "", kTest},
    {"aten::_test_string_default", may_alias, "", "", kTest},
    {"aten::dropout", may_alias, "", "train=False|p=0", "returns its input in evaluation mode"},
    {"aten::feature_dropout", may_alias, "", "train=False|p=0", "returns its input in evaluation mode"},
    {"aten::alpha_dropout", may_alias, "", "train=False|p=0", "returns its input in evaluation mode"},
    {"aten::feature_alpha_dropout", may_alias, "", "train=False|p=0", "returns its input in evaluation mode"},

    // Not annotated, yet they write.
    {"aten::fft_ihfft2.out", writes, "out", "", kLeavesOut},
    {"aten::fft_ihfftn.out", writes, "out", "", kLeavesOut},
    {"aten::batch_norm", writes, "running_mean,running_var", "training=True", kStatistics},
    {"aten::_batch_norm_impl_index", writes, "running_mean,running_var", "training=True", kStatistics},
    {"aten::native_batch_norm", writes, "running_mean,running_var", "training=True", kStatistics},
    {"aten::cudnn_batch_norm", writes, "running_mean,running_var", "training=True", kStatistics},
    {"aten::miopen_batch_norm", writes, "running_mean,running_var", "training=True", kStatistics},
    {"aten::instance_norm", writes, "running_mean,running_var", "use_input_stats=True", kStatistics},
    {"aten::batch_norm_update_stats", writes, "running_mean,running_var", "", kStatistics},
    {"aten::batch_norm_gather_stats", writes, "running_mean,running_var", "", kStatistics},
    {"aten::batch_norm_gather_stats_with_counts", writes, "running_mean,running_var", "", kStatistics},
    {"aten::_no_grad_embedding_renorm_", writes, "weight", "", "an in-place op without annotation"},
    {"aten::_no_grad_embedding_renorm_", alias, "weight", "", "an in-place op without annotation"},
    {"aten::_compute_linear_combination.out", writes, "out", "", "adds to what is there"},

    // Annotated as written, yet left alone.
    {"aten::_native_batch_norm_legit", writes_nothing, "running_mean,running_var", "training=False",
     "no statistics are kept in evaluation mode"},
    {"prims::as_strided", writes_nothing, "", "", "a view, annotated as a write"},
    {"prims::as_strided", alias, "", "", "a view, annotated as a write"},
    {"aten::requires_grad_", writes_nothing, "", "", "a flag of autograd"},
    {"aten::retain_grad", writes_nothing, "", "", "a flag of autograd"},
    {"aten::record_stream", writes_nothing, "", "", "a note for the allocator"},

    // Written in full: what was there before is not read. (So are all keyword-only `out` arguments, by rule.)
    {"aten::copy_", overwrites, "", "", kFills},
    {"aten::fill_", overwrites, "", "", kFills},
    {"aten::zero_", overwrites, "", "", kFills},
    {"aten::normal_", overwrites, "", "", kFills},
    {"aten::uniform_", overwrites, "", "", kFills},
    {"aten::random_", overwrites, "", "", kFills},
    {"aten::bernoulli_", overwrites, "", "", kFills},
    {"aten::exponential_", overwrites, "", "", kFills},
    {"aten::geometric_", overwrites, "", "", kFills},
    {"aten::cauchy_", overwrites, "", "", kFills},
    {"aten::log_normal_", overwrites, "", "", kFills},
    {"prims::copy_to", overwrites, "", "", kFills},
    {"aten::_foreach_copy_", overwrites, "", "", kFills},
    {"aten::_foreach_zero_", overwrites, "", "", kFills},

    // Readers of metadata.
    {"aten::requires_grad_", reads_nothing, "self", "", kMetadata},
    {"aten::retain_grad", reads_nothing, "self", "", kMetadata},
    {"aten::record_stream", reads_nothing, "self", "", kMetadata},
    {"aten::empty_like", reads_nothing, "", "", kMetadata},
    {"aten::zeros_like", reads_nothing, "", "", kMetadata},
    {"aten::ones_like", reads_nothing, "", "", kMetadata},
    {"aten::full_like", reads_nothing, "", "", kMetadata},
    {"aten::rand_like", reads_nothing, "", "", kMetadata},
    {"aten::randn_like", reads_nothing, "", "", kMetadata},
    {"aten::randint_like", reads_nothing, "self", "", kMetadata},
    {"aten::new_empty", reads_nothing, "", "", kMetadata},
    {"aten::new_empty_strided", reads_nothing, "", "", kMetadata},
    {"aten::new_full", reads_nothing, "", "", kMetadata},
    {"aten::new_zeros", reads_nothing, "", "", kMetadata},
    {"aten::new_ones", reads_nothing, "", "", kMetadata},
    {"aten::_new_zeros_with_same_feature_meta", reads_nothing, "", "", kMetadata},
    {"aten::_shape_as_tensor", reads_nothing, "", "", kMetadata},
    {"aten::_dim_arange", reads_nothing, "", "", kMetadata},
    {"aten::sym_size", reads_nothing, "", "", kMetadata},
    {"aten::sym_stride", reads_nothing, "", "", kMetadata},
    {"aten::sym_numel", reads_nothing, "", "", kMetadata},
    {"aten::sym_storage_offset", reads_nothing, "", "", kMetadata},
    {"aten::sym_is_contiguous", reads_nothing, "", "", kMetadata},
    {"aten::size", reads_nothing, "", "", kMetadata},
    {"aten::stride", reads_nothing, "", "", kMetadata},
    {"aten::numel", reads_nothing, "", "", kMetadata},
    {"aten::dim", reads_nothing, "", "", kMetadata},
    {"aten::len.Tensor", reads_nothing, "", "", kMetadata},
    {"aten::storage_offset", reads_nothing, "", "", kMetadata},
    {"aten::element_size", reads_nothing, "", "", kMetadata},
    {"aten::get_device", reads_nothing, "", "", kMetadata},
    {"aten::is_same_size", reads_nothing, "", "", kMetadata},
    {"aten::is_complex", reads_nothing, "", "", kMetadata},
    {"aten::is_floating_point", reads_nothing, "", "", kMetadata},
    {"aten::is_signed", reads_nothing, "", "", kMetadata},
    {"aten::is_conj", reads_nothing, "", "", kMetadata},
    {"aten::is_neg", reads_nothing, "", "", kMetadata},
    {"aten::is_contiguous", reads_nothing, "", "", kMetadata},
    {"aten::is_non_overlapping_and_dense", reads_nothing, "", "", kMetadata},
    {"aten::is_strides_like_format", reads_nothing, "", "", kMetadata},
    {"aten::is_pinned", reads_nothing, "", "", kMetadata},
    {"aten::is_inference", reads_nothing, "", "", kMetadata},
    {"aten::is_leaf", reads_nothing, "", "", kMetadata},
    {"aten::is_set_to", reads_nothing, "", "", kMetadata},
    {"aten::is_distributed", reads_nothing, "", "", kMetadata},
    {"aten::retains_grad", reads_nothing, "", "", kMetadata},
    {"aten::output_nr", reads_nothing, "", "", kMetadata},
    {"aten::_version", reads_nothing, "", "", kMetadata},
    {"aten::result_type", reads_nothing, "", "", kMetadata},
    {"aten::can_cast", reads_nothing, "", "", kMetadata},
    {"aten::_has_compatible_shallow_copy_type", reads_nothing, "", "", kMetadata},
    {"aten::_has_same_storage_numel", reads_nothing, "", "", kMetadata},
    {"aten::_debug_has_internal_overlap", reads_nothing, "", "", kMetadata},
    {"aten::_assert_tensor_metadata", reads_nothing, "", "", kMetadata},
    {"aten::expand_as", reads_nothing, "other", "", kMetadata},
    {"aten::view_as", reads_nothing, "other", "", kMetadata},
    {"aten::reshape_as", reads_nothing, "other", "", kMetadata},
    {"aten::type_as", reads_nothing, "other", "", kMetadata},
    {"aten::to.other", reads_nothing, "other", "", kMetadata},
    {"aten::unflatten_dense_tensors", reads_nothing, "tensors", "", kMetadata},
    {"aten::copy", reads_nothing, "self", "", kFunctionalFill},
    {"aten::fill", reads_nothing, "self", "", kFunctionalFill},
    {"prims::fill", reads_nothing, "", "", kFunctionalFill},
    {"aten::zero", reads_nothing, "", "", kFunctionalFill},
    {"aten::normal_functional", reads_nothing, "", "", kFunctionalFill},
    {"aten::uniform", reads_nothing, "", "", kFunctionalFill},
    {"aten::random", reads_nothing, "", "", kFunctionalFill},
    {"aten::exponential", reads_nothing, "", "", kFunctionalFill},
    {"aten::geometric", reads_nothing, "", "", kFunctionalFill},
    {"aten::cauchy", reads_nothing, "", "", kFunctionalFill},
    {"aten::log_normal", reads_nothing, "", "", kFunctionalFill},
    {"aten::bernoulli.p", reads_nothing, "self", "", kFunctionalFill},
    {"aten::bernoulli.Tensor", reads_nothing, "self", "", kFunctionalFill},
    {"aten::bernoulli.Tensor_out", reads_nothing, "self", "", kFunctionalFill},
    {"aten::bernoulli.float_out", reads_nothing, "self", "", kFunctionalFill},
    {"aten::_foreach_copy", reads_nothing, "self", "", kFunctionalFill},
    {"aten::_foreach_zero", reads_nothing, "", "", kFunctionalFill},

    // Results without content.
    {"aten::empty", uninitialized, "", "", kFresh},
    {"aten::empty_like", uninitialized, "", "", kFresh},
    {"aten::empty_strided", uninitialized, "", "", kFresh},
    {"aten::empty_permuted", uninitialized, "", "", kFresh},
    {"aten::new_empty", uninitialized, "", "", kFresh},
    {"aten::new_empty_strided", uninitialized, "", "", kFresh},
    {"aten::resize", uninitialized, "", "", "cells beyond the old size hold whatever was there"},
    {"aten::resize_as", uninitialized, "", "", "cells beyond the old size hold whatever was there"},
    {"dim_order_ops::_empty_dim_order", uninitialized, "", "", kFresh},
    {"aten::_make_dep_token", uninitialized, "", "", kFresh},
    {"prims::empty", uninitialized, "", "", kFresh},
    {"prims::empty_strided", uninitialized, "", "", kFresh},
    {"prims::empty_permuted", uninitialized, "", "", kFresh},

    // Asserts and the like.
    {"aten::_assert_async", observed, "", "", kAssert},
    {"aten::_assert_scalar", observed, "", "", kAssert},
    {"aten::_assert_tensor_metadata", observed, "", "", kAssert},
    {"aten::_functional_assert_async", observed, "", "", kAssert},
    {"aten::_functional_assert_scalar", observed, "", "", kAssert},
    {"aten::sym_constrain_range", observed, "", "", kAssert},
    {"aten::sym_constrain_range_for_size", observed, "", "", kAssert},
    {"aten::_functional_sym_constrain_range", observed, "", "", kAssert},
    {"aten::_functional_sym_constrain_range_for_size", observed, "", "", kAssert},
    {"aten::_print", observed, "", "", "prints"},

    // Not tagged, yet they draw; tagged, yet a probability of 0 draws nothing.
    {"aten::_no_grad_normal_", random, "", "", "a tag is missing"},
    {"aten::_no_grad_uniform_", random, "", "", "a tag is missing"},
    {"prims::inductor_randint", random, "", "", "a tag is missing"},
    {"aten::dropout", not_random, "", "train=False", "draws nothing in evaluation mode"},
    {"aten::native_dropout", not_random, "", "train=False", "draws nothing in evaluation mode"},
    {"aten::scaled_dot_product_attention", not_random, "", "dropout_p=0", "draws nothing without dropout"},

    // Outside what this tool can judge.
    {"aten::set_", refused, "", "", kSwitchesStorage},
    {"aten::set_data", refused, "", "", kSwitchesStorage},
    {"aten::resize_", refused, "", "", kSwitchesStorage},
    {"aten::resize_as_", refused, "", "", kSwitchesStorage},
    {"aten::resize_as_sparse_", refused, "", "", kSwitchesStorage},
    {"aten::_resize_output_", refused, "", "", kSwitchesStorage},
    {"aten::sparse_resize_", refused, "", "", kSwitchesStorage},
    {"aten::sparse_resize_and_clear_", refused, "", "", kSwitchesStorage},
    {"aten::copy_sparse_to_sparse_", refused, "", "", kSwitchesStorage},
    {"prims::resize", refused, "", "", kSwitchesStorage},
    {"aten::_pack_sequence", refused, "", "", "each result is another of its arguments"},
};

bool matches(const Override& row, const Schema& schema) {
  const std::string op = schema.ns + "::" + schema.name;
  return row.op == op || row.op == op + "." + schema.overload;
}

}  // namespace

std::span<const Override> overrides() { return kOverrides; }

std::vector<const Override*> overrides_of(const Schema& schema) {
  std::vector<const Override*> rows;
  for (const Override& row : kOverrides) {
    if (matches(row, schema)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace writeback
