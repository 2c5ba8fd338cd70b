#include "fuzz/implementation.h"

#include "fuzz/faults.h"
#include "fuzz/outside.h"
#include "impl/coalesce.h"
#include "impl/planted_place.h"
#include "ref/graph/error.h"

namespace writeback::fuzz {
namespace {

/// Runs `place` and says what became of it; a thrown InputError is a refusal, anything else a crash.
template <typename Place>
Answer answer_from(Place place) {
  Answer answer;
  try {
    answer.result = place();
    answer.kind = Answer::Kind::placed;
  } catch (const InputError& e) {
    answer.kind = Answer::Kind::refused;
    answer.message = e.what();
  } catch (const std::exception& e) {
    answer.kind = Answer::Kind::crashed;
    answer.message = e.what();
  }
  return answer;
}

class Fast final : public Implementation {
 public:
  Answer place(const Program& program, const Options& options) override {
    return answer_from([&] { return impl::place(program, options); });
  }
  bool explains() const override { return true; }
};

Answer as_rewritten(Answer answer, Program program) {
  if (answer.kind != Answer::Kind::placed) return answer;
  answer.kind = Answer::Kind::rewritten;
  answer.program = std::move(program);
  return answer;
}

/// The earliest placement, readers forwarded and values coalesced: a program to be judged as a whole.
class Rewriter final : public Implementation {
 public:
  Answer place(const Program& program, const Options& options) override {
    Program rewritten;
    Answer answer = answer_from([&] {
      impl::PlaceResult result = impl::place(program, options);
      rewritten = impl::rewrite(program, result.placement, {.forward = true, .coalesce = true}, options).program;
      return result;
    });
    return as_rewritten(std::move(answer), std::move(rewritten));
  }
};

class End final : public Implementation {
 public:
  Answer place(const Program& program, const Options&) override {
    return answer_from([&] {
      impl::PlaceResult result;
      result.write_backs = write_backs(program);
      result.placement = end_placement(program);
      return result;
    });
  }
};

class Planted final : public Implementation {
 public:
  explicit Planted(const PlantedFault& fault) : fault_(fault) {}
  Answer place(const Program& program, const Options& options) override {
    Program rewritten;
    Answer answer = answer_from([&] {
      const Switch on(fault_);
      impl::PlaceResult result = impl::faulty::place(fault_.misread != nullptr ? fault_.misread(program) : program, options);
      if (fault_.rewrites)
        rewritten = impl::faulty::rewrite(program, result.placement, {.forward = true, .coalesce = true}, options, {}).program;
      return result;
    });
    return fault_.rewrites ? as_rewritten(std::move(answer), std::move(rewritten)) : answer;
  }
  bool explains() const override { return true; }

 private:
  struct Switch {
    explicit Switch(const PlantedFault& fault) { plant(fault); }
    ~Switch() { impl::faulty::plant(impl::Fault::none); }
  };
  const PlantedFault& fault_;
};

}  // namespace

std::unique_ptr<Implementation> implementation(const std::string& name, Patience patience) {
  if (name == "fast") return std::make_unique<Fast>();
  if (name == "end") return std::make_unique<End>();
  if (name == "rewrite") return std::make_unique<Rewriter>();
  if (name.starts_with("cmd:")) return std::make_unique<Outside>(name.substr(4), patience);
  if (name.starts_with("fault:")) {
    if (const PlantedFault* fault = find_fault(name.substr(6))) return std::make_unique<Planted>(*fault);
    throw InputError("--impl " + name, "no fault of this name; `writeback faults` lists them");
  }
  throw InputError("--impl " + name, "expected fast, end, rewrite, fault:NAME or cmd:COMMAND");
}

}  // namespace writeback::fuzz
