// Copyright of somebody.

import Foundation

/// How many fit.
public let capacity = 12
var open = true
var free: Int { capacity - 1 }
let (left, right) = (1, 2)

infix operator +++: AdditionPrecedence
precedencegroup Packing {
    higherThan: AdditionPrecedence
}

typealias Rule<T> = (T) -> Bool

/// Keeps parcels.
///
/// Never loses one.
@objc(Depot)
@MainActor
public final class Depot<T>: Base, Store where T: Parcel {
    public static let shared = Depot()
    static var made = 0, lost = 0
    class var kind: String { "depot" }
    @Published private(set) var limit: Int = 0
    lazy var parcels: [T] = {
        let made = [T]()
        return made
    }()
    var weight: Int {
        get { parcels.count }
        set { let doubled = newValue * 2; limit = doubled }
    }
    var owner = "" {
        willSet { print(newValue) }
        didSet { print(oldValue) }
    }
    let check: (Int) -> Bool = { number in number > 0 }

    // Makes an empty one.
    public init() {
        super.init()
    }

    convenience init?(size: Int) throws {
        self.init()
    }

    deinit {
        print("gone")
    }

    subscript(index: Int) -> T {
        get { parcels[index] }
    }

    /// Stores one.
    @discardableResult
    @available(iOS 13, *)
    public func put<R>(_ parcel: T, times count: Int...) async throws -> R where R: Sendable {
        let local = 1
        func helper() {}
        struct Local {
            let kept = 1
            func inside() {}
        }
        let mapped = parcels.map { each in
            func named() {}
            return each
        }
        return mapped
    }

    class func make() -> Depot { shared }
    static func == (left: Depot, right: Depot) -> Bool { true }
    static prefix func - (depot: Depot) -> Depot { depot }
    nonisolated func `repeat`() {}

    #if DEBUG
    /// Only for tests.
    func dump() {}
    #elseif os(Linux)
    func trace() {}
    #endif

    /// A size.
    indirect enum Size: Int, CaseIterable {
        case small = 1, large
        case other(Int)

        var half: Int { rawValue / 2 }
        func twice() -> Int { rawValue * 2 }
    }
}

extension Depot where T == Letter {
    func read() {}
}

extension Depot.Size: Rated {
    static func rate() {}
}

extension Array<Int> {
    mutating func pack() {}
}

extension [String] {
    func label() {}
}

public protocol Store: AnyObject {
    associatedtype Item: Parcel
    /// How full it is.
    var weight: Int { get set }
    init()
    func put(_ parcel: Item) throws
    subscript(index: Int) -> Item { get }
}

actor Courier {
    private var round: [Parcel] = []
    nonisolated func start() {}
}

@propertyWrapper
struct Clamped {
    var wrappedValue: Int
}

@freestanding(expression)
macro labelled<T>(_ value: T) -> (T, String) = #externalMacro(module: "Macros", type: "Labelled")

// Far away.

func +++ (left: Int, right: Int) -> Int { left + right }

#if os(macOS)
func platform() -> String { "mac" }
#else
func platform() -> String { "other" }
#endif

final class DepotTests: XCTestCase {
    override func setUp() {}
    func testStores() throws {}
    func testHelper(of depot: Depot) {}
}

@Suite struct DepotSuite {
    @Test("opens") func opens() async {
        #expect(true)
    }

    @Test(arguments: [1, 2])
    func counts(number: Int) {}
}
