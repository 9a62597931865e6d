/*
 * Copyright of somebody.
 */
@file:JvmName("Depots")

package depot

import kotlin.math.*

/** How many fit. */
const val CAPACITY = 12
val started = System.nanoTime()
var open = true
internal val String.shelf: String get() = substring(0, 2)
val <T> List<T>.second: T
    get() = this[1]
val free: Int
    // Computed each time.
    get() = CAPACITY - 1

typealias Rule<T> = (T) -> Boolean

/**
 * Keeps parcels.
 */
@Service("main")
public open class Depot<T : Parcel> @Inject internal constructor(
    private val parcels: MutableList<T>,
    var limit: Int = CAPACITY,
) : Base(), Store<T> by Shelf(), AutoCloseable where T : Any {
    init {
        val local = 1
        println(local)
    }

    // Makes an empty one.
    constructor() : this(mutableListOf()) {
        println("empty")
    }

    @Deprecated("use the other")
    constructor(size: Int) : this(mutableListOf(), size)

    private val cleanup by lazy {
        val inner = 2
        inner
    }
    var count: Int = 0
        get() = field + 1
        private set(value) {
            val doubled = value * 2
            field = doubled
        }
    lateinit var owner: String
    val watcher = object : Watcher {
        val seen = 1
        override fun changed() {}
    }
    val check: (Int) -> Boolean = { number -> number > 0 }

    companion object {
        const val NAME = "depot"

        @JvmStatic
        fun create() = Depot<Parcel>()
    }

    /** Stores one. */
    @Throws(Full::class)
    override suspend fun <R> put(parcel: T, vararg times: Int): R? {
        val local = 1
        fun helper() {}
        class Local {
            val kept = 1
            fun inside() = 1
        }
        val anonymous = object : Runnable {
            private var runs = 0
            override fun run() { runs++ }
        }
        return parcels.map { each -> fun named() {}; each }.first()
    }

    fun T.weigh(): Int = 1
    operator fun get(index: Int) = parcels[index]
    abstract fun missing()

    inner class Row
    // Behind the row.

    companion object Named : Factory {
        fun make() = 1
    }
}

class Quick : Store<Int> by other {
    val size = 1
    fun add() {}
}

/** A size. */
enum class Size(val factor: Int) : Rated {
    SMALL(1),
    /** With an own rule. */
    LARGE(2) {
        override fun rate() = 3
    };

    val half = factor / 2
    fun twice() = factor * 2
}

data class Parcel(val id: Int, val label: String?)
@JvmInline
value class Weight(val grams: Int)
annotation class Marked(val why: String)

sealed interface State {
    data object Empty : State
    class Filled(val by: String) : State
}

fun interface Visitor {
    fun visit(parcel: Parcel)
}

object Registry : Base() {
    private var all = listOf<Depot<*>>()
    fun find(name: String) = all.first()
}

expect fun platform(): String
actual class Clock {
    external fun now(): Long
}

// Far away.

fun String?.orShelf(): String = this ?: ""
suspend fun depot.Parcel.Companion.read() {}
fun List<Map<String, Int>>.flat(): Int { return 1 }
infix fun (() -> Unit).after(other: () -> Unit) = other()
fun <T> T.marked(): T = this
context(Log)
private fun logged() {}

/** An annotation that the grammar takes for an expression. */
@Suppress("unused")
public inline fun <reified T> reify(): T = TODO()

class DepotTest {
    @Test
    fun `stores a parcel, and keeps it`() = runTest {
        val depot = Depot<Parcel>()
    }

    @org.junit.jupiter.api.Test fun opens() {}

    @ParameterizedTest
    @ValueSource(ints = [1, 2])
    fun counts(number: Int) {}

    private fun `set up`() {}
}

class DepotSpec : FunSpec({
    test("closes") { val depot = 1 }
})
