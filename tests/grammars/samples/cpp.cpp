// Shapes, and what draws them.

#ifndef SHAPES_H_
#define SHAPES_H_

#include <vector>

#define SHAPES_VERSION 3
#define SHAPES_AREA(w, h) ((w) * (h))

SHAPES_BEGIN_NAMESPACE

// The library.
namespace shapes::detail {

inline namespace v1 {
// Any shape.
template <typename T, int N = 3>
class SHAPES_EXPORT Shape final : public Base<T>, private Other {
  Q_SHAPE

 public:
  using Unit = T;
  typedef T* Pointer;
  static constexpr int kSides = N;

  Shape() : sides_(0) {}
  explicit Shape(int sides);
  SHAPES_CONSTEXPR Shape(const Shape& other) : sides_(other.sides_) {}
  template <class U>
  Shape(U value) {}
  Shape(Shape&&) = default;
  virtual ~Shape() = default;

  // The area.
  [[nodiscard]] virtual double area() const noexcept = 0;
  SHAPES_NODISCARD int sides() const SHAPES_NOEXCEPT override { return sides_; }
  auto scale(double by) -> Shape&;
  template <class U>
  void visit(U&& visitor) const {}
  const T* SHAPES_NONNULL data() const SHAPES_PURE;

  Shape& operator=(const Shape&) = delete;
  Shape& operator+=(const Shape& other) { return *this; }
  operator bool() const { return sides_ > 0; }
  explicit operator std::vector<T>() const;
  T operator()(int at) const;
  friend bool operator==(const Shape& a, const Shape& b) { return true; }

  enum class Fill : unsigned char { kNone, kSolid };
  struct Corner {
    double x, y;
    Corner(double x, double y);
  };
  union Raw { int whole; float part; };

 private:
  int sides_;
  std::vector<T> corners_ SHAPES_GUARDED_BY(lock_);
  static int count_;
};
}  // namespace v1

namespace {
int hidden = 0;
void helper(int x) {}
}  // namespace

// Specialised.
template <>
class Shape<int> {};

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

template <typename T>
using Shapes = std::vector<Shape<T>>;

template <typename T>
inline constexpr bool is_shape_v = false;

const auto kDouble = [](double x) { return 2 * x; };
static const int kLimit = 3;
extern int shared;

}  // namespace shapes::detail

namespace shapes {

template <typename T, int N>
Shape<T, N>::Shape(int sides) : sides_(sides) {
  auto local = [](int x) { return x; };
  int count = 0;
  struct Local { void run() {} };
}

template <typename T, int N>
Shape<T, N>::Corner::Corner(double x, double y) : x(x), y(y) {}

template <typename T, int N>
int Shape<T, N>::count_ = 0;

template <typename T, int N>
auto Shape<T, N>::scale(double by) -> Shape& {
  return *this;
}

detail::Canvas::Canvas() = default;
Canvas::~Canvas() {}
Canvas::operator bool() const { return true; }
const Pixel& Canvas::at(int x) const& { return pixels_[x]; }
Canvas& Canvas::operator<<(const Pixel& pixel) { return *this; }

std::ostream& operator<<(std::ostream& out, const Canvas& canvas) {
  return out;
}

long double operator""_px(long double value) { return value; }

template <>
void draw<int>(int) {}

#if SHAPES_WIDE
wchar_t* label(int width) {
#else
char* label() {
#endif
  return nullptr;
}

struct SHAPES_DEPRECATED("use Canvas") [[nodiscard]] OldCanvas : Canvas {};

template <typename Result, typename... Given>
class SHAPES_VIEW Visitor<Result(Given...)> : Canvas {
  Result visit(Given... given);
};

typedef void* (*Allocate)(int size, wchar_t label);
typedef Canvas& (*Restyle)(Canvas&);

}  // namespace shapes

template <>
struct std::hash<shapes::Canvas> {
  size_t operator()(const shapes::Canvas& canvas) const { return 0; }
};

extern "C" {
int shapes_open(const char* path);
}

extern "C" int shapes_close() {
  return 0;
}

typedef struct shapes_point {
  int x, y;
} shapes_point_t;

DEFINE_bool(verbose, false, "Says more.");

SHAPES_END_NAMESPACE

TEST(ShapeTest, HasSides) {
  EXPECT_EQ(1, 1);
}

TYPED_TEST_P(ShapeTest, Scales) {}

TEST_CASE("shapes have an area", "[shape]") {
  EXPECT_EQ(1, 1);
}

BENCHMARK(DrawMany, iterations) {
  draw(iterations);
}

#endif  // SHAPES_H_
