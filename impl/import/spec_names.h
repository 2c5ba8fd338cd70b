// The kinds of input and output specs under the names that export-schema JSON gives them.
#pragma once

#include <array>
#include <string_view>

#include "ref/graph/program.h"

namespace writeback::impl {

template <typename Kind>
struct SpecName {
  std::string_view tag;
  Kind kind;
  const char* target;  ///< the member that holds the target's name, nullptr for none
};

inline constexpr std::array kInputSpecs{
    SpecName<InputKind>{"user_input", InputKind::user_input, nullptr},
    SpecName<InputKind>{"parameter", InputKind::parameter, "parameter_name"},
    SpecName<InputKind>{"buffer", InputKind::buffer, "buffer_name"},
    SpecName<InputKind>{"tensor_constant", InputKind::constant_tensor, "tensor_constant_name"},
    SpecName<InputKind>{"custom_obj", InputKind::custom_obj, "custom_obj_name"},
    SpecName<InputKind>{"token", InputKind::token, nullptr},
    SpecName<InputKind>{"constant_input", InputKind::constant_input, nullptr},
};
inline constexpr std::array kOutputSpecs{
    SpecName<OutputKind>{"user_output", OutputKind::user_output, nullptr},
    SpecName<OutputKind>{"loss_output", OutputKind::loss_output, nullptr},
    SpecName<OutputKind>{"buffer_mutation", OutputKind::buffer_mutation, "buffer_name"},
    SpecName<OutputKind>{"gradient_to_parameter", OutputKind::gradient_to_parameter, "parameter_name"},
    SpecName<OutputKind>{"gradient_to_user_input", OutputKind::gradient_to_user_input, "user_input_name"},
    SpecName<OutputKind>{"user_input_mutation", OutputKind::user_input_mutation, "user_input_name"},
    SpecName<OutputKind>{"token", OutputKind::token, nullptr},
    SpecName<OutputKind>{"parameter_mutation", OutputKind::parameter_mutation, "parameter_name"},
};

}  // namespace writeback::impl
