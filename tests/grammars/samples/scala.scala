/*
 * Copyright of somebody.
 */

// How parcels are kept.

package depot
package storage

import scala.collection.mutable

/** Keeps parcels.
  *
  * At most `size`.
  */
@SerialVersionUID(1L)
sealed abstract class Depot[T <: Parcel](val size: Int, name: String)(implicit ev: Ordering[T])
    extends Base(size)
    with Store[T] { self =>

  /** How many fit. */
  val capacity: Int = { val half = size / 2; half * 2 }
  private[this] lazy val parcels, spare = mutable.Buffer.empty[T]
  val (left, right) = (1, 2)
  val Some(first) = find(_ => true)
  val head :: _ = parcels.toList
  val (low: Int, high: Map[Int, Int]) = bounds
  val /: : Slash = Slash
  @volatile private var count = 0 // how many are inside
  val label: String
  var open: Boolean

  type Key = String
  type Value <: AnyRef

  // Makes an empty one.
  def this() = this(0, "")

  /** Stores one. */
  @throws[Full]
  @inline final override def put[R](parcel: T, times: Int = 1)(implicit found: R): Boolean = {
    val once = times == 1
    def again(left: Int): Unit = if (left > 0) again(left - 1)
    class Local { def inside: Int = 1 }
    parcels.foreach { each =>
      val inner = each
      def nested() = inner
      nested()
    }
    val runner = new Runnable {
      private val made = 1
      override def run(): Unit = ()
    }
    val mixed = new Handler(times) with Runnable with Closing {
      private var finished = false
      override def run(): Unit = ()
    }
    times match {
      case 1 =>
        val none = 0
        none > 0
      case _ => again(times); once
    }
  }

  def remove(parcel: T): Unit
  def close() { count = 0 }
  def +(parcel: T): this.type = self
  def unary_! : Boolean = false
  def `in order`: Seq[T] = parcels.toSeq

  implicit class Ops(parcel: T) { def weighed: Int = 1 }
  implicit val ordering: Ordering[T] = new Ordering[T] {
    def compare(a: T, b: T): Int = 0
  }
  implicit def asInt(depot: Depot[T]): Int = depot.count

  protected object Shelf {
    val Height = 3
    trait Listener { def changed(): Unit }
  }
}

object Depot extends App {
  final val Limit = 10
  var opened = 0
  val Pattern = "(a)(b)".r
  def apply(size: Int): Depot[Parcel] = ???
  def derive[A]: Codec[A] = macro DepotMacros.derive[A]
  private case class Entry(key: String, value: Int)
  case object Nothing
}

/** Shared by all. */
package object util {
  type Weight = Int
  val Heaviest: Weight = 30
  def weigh(parcel: Parcel): Weight = 0
}

package inner {
  class Cell
}

trait Store[T] extends Closeable {
  def put[R](parcel: T, times: Int)(implicit found: R): Boolean
  def isEmpty: Boolean = true
  val name: String = "store"
}

class Parcel

/** A size. */
enum Size(val factor: Int) derives CanEqual:
  case Small extends Size(1)
  case Large, Huge
  case Custom(of: Int)

  val doubled = factor * 2

  /** Twice. */
  def twice: Int =
    factor * 2

end Size

given sizes: Ordering[Size] with
  def compare(a: Size, b: Size): Int =
    a.factor - b.factor

given Show[Size] with
  val prefix = "size"
  def show(size: Size): String = prefix

given listed[A](using inner: Show[A]): Show[List[A]] with
  def show(all: List[A]): String = ""
end listed

given everywhere: Context = Context.global

extension (parcel: Parcel)
  /** Whether it fits. */
  def fits: Boolean = true
  def fitsIn(size: Size): Boolean =
    size.factor > 1

extension (inline parcel: Letter) {
  inline def sealedBy(inline hand: String): Letter = ${ LetterMacros.sealedBy('parcel, 'hand) }
}

extension [A](all: List[A])(using Show[A]) def joined: String = ""

opaque type Id = Long
type Elem[X] = X match
  case String => Char
  case Array[t] => t

inline def logged(inline text: String): Unit = ${ loggedMacro('text) }
inline def half(x: Int): Int = x / 2

val Zero, One = 0
var total = 0
lazy val later = 1
val computed =
  val step = 1
  step + 1

@main def run(names: String*): Unit =
  val count = names.length
  def greet(name: String) =
    println(name)
    // greets

  if count > 0 then
    greet(names.head)
  end if
  // the last word
end run

// Over indentation.
object Offside:
  class Inner(x: Int):
    def method =
      x
    end method
    def other = 1
  end Inner

  val table = Map(
    "a" -> 1,
  )

class DepotSuite extends munit.FunSuite {
  test("stores what fits") {
    val depot = Depot(1)
    assert(depot.isEmpty)
  }

  test("is slow".tag(Slow)) { assert(true) }
  property("adds") { forAll { (x: Int) => x == x } }
  property("adds twice") = forAll { (x: Int) => x == x }
  test("micro") - { assert(true) }

  "A depot" must {
    "open" in {
      true
    }
    "close" in withDepot { depot => true }
    "burn" ignore { false }
  }
  it should "send" in { true }
  "A letter" should "arrive" in { true }

  @Test def plain(): Unit = ()
}
