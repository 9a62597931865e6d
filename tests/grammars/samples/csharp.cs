// Copyright of somebody.

// Keeps parcels until they are sent.

using System;
using Xunit;

[assembly: CLSCompliant(true)]

#region Plain
namespace Depot.Storage
{
    /// <summary>
    /// Keeps <see cref="Parcel"/>s, at most <paramref name="size"/> &amp; no more.
    /// </summary>
    [Serializable]
    public partial class Depot<T>(int size) : Base(size), IStore<T>, IDisposable
        where T : Parcel, new()
    {
        /// <summary>How many fit.</summary>
        public const int Capacity = 12, Reserve = 2;
        private static readonly string Name = "depot";
        readonly static object Gate = new();
        [ThreadStatic] private int count, spare;

        /// <inheritdoc />
        public event EventHandler Opened, Closed;
        public event EventHandler Changed
        {
            add { _handlers += value; }
            remove { _handlers -= value; }
        }

        static Depot() { }

        // Makes an empty one.
        public Depot() : this(Capacity) { }

        ~Depot() => Dispose();

        public int Count { get; private set; } = 0;
        public required string Label { get; init; }
        public bool IsFull => Count >= Capacity;

        public T this[int index]
        {
            get => _items[index];
            set { _items[index] = value; }
        }

        T IStore<T>.this[string key] => Find(key);
        int IStore<T>.Size => Count;
        event EventHandler IStore<T>.Emptied { add { } remove { } }

        public static Depot<T> operator +(Depot<T> left, Depot<T> right) => left.Merge(right);
        public static bool operator ==(Depot<T> left, Depot<T> right) { return true; }
        public static implicit operator int(Depot<T> depot) => depot.Count;
        public static explicit operator List<T>(Depot<T> depot) => new(depot);

        /// <summary>Stores one.</summary>
        /// <param name="parcel">What to store.</param>
        /// <returns>Whether it fits, see <see cref="P:Depot.Storage.Depot`1.IsFull" />.</returns>
        [Obsolete("Use Add")]
        [return: NotNull]
        public async Task<bool> PutAsync<R>(T parcel, CancellationToken token = default)
            where R : class
        {
            const int tries = 3;
            var local = 1;
            Func<int, int> twice = x => x * 2;

            // Counts down.
            static int Left(int used)
            {
                int Inner() => used;
                return tries - Inner();
            }

            return await Task.FromResult(Left(local) > 0);
        }

        void IDisposable.Dispose() { }
        bool IStore<T>.Holds<K>(K key) => true;
        public partial void Sort();
        public extern static int Native();
        protected abstract void Flush();

#if DEBUG
        /// <summary>Only for debugging.</summary>
        public void Dump() { }
#else
        public void Quiet() { }
#endif

        private sealed class Shelf
        {
            internal int Height;
            internal void Lift() { Height++; }

            internal enum Side { Left, Right }
        }

        public delegate void Handler(object sender, T parcel);
    }

    namespace Inner { internal struct Empty { } }
}
#endregion

/// <summary>A size.</summary>
[Flags]
public enum Size : byte
{
    /// <summary>Small.</summary>
    Small = 1,
    Large = 2,
}

public interface IStore<in T>
{
    const int Limit = 3;
    int Size { get; }
    T this[string key] { get; }
    event EventHandler Emptied;
    static abstract T Make();
    bool Holds<K>(K key);
    bool IsEmpty() => Size == 0;
}

public record Address(string Street, int Number);

public sealed record Letter(Address To) : Parcel
{
    public Letter() : this(new Address("", 0)) { }
    public virtual bool Equals(Letter? other) => true;
}

public readonly record struct Stamp(int Cents)
{
    public int Euros => Cents / 100;
}

public record class Label;

#if !TRIMMED
[Serializable]
#endif
[StructLayout(LayoutKind.Explicit)]
public unsafe ref struct Buffer
{
    [FieldOffset(0)] public fixed byte Bytes[16];
    public int Length;
    public readonly ref int First() => ref Length;
}

#if OPEN
public
#else
internal
#endif
ref partial struct Reader
#if MODERN
    : IEquatable<Reader>
#else
    : IReader
#endif
{
    public static void Zero(byte* at) { *(int*)at = *(int*)(at + 2); }
#if MODERN
    public bool Equals(Reader other) {
#else
    public bool Equals(in Reader other) {
#endif
        return true;
    }
}

public delegate TResult Convert<in T, out TResult>(T value);

public static class ParcelExtensions
{
    /// <summary>Weighs one.</summary>
    public static int Weigh(this Parcel parcel) => parcel.Weight;

    extension(Parcel parcel)
    {
        public bool Fits() => parcel.Weight < 5;
    }
}

public class DepotTests
{
    [Fact]
    public void Stores_what_fits() => Assert.True(true);

    [Theory, InlineData(1)]
    [InlineData(2)]
    public void Counts(int number) { }

    [Xunit.SkippableFact(Skip = "slow")]
    public async Task Waits() { }

    [NUnit.Framework.Test] public void Sends() { }

    [TestCase(1)]
    public void Repeats(int times) { }

    [TestMethod]
    public void Opens() { }

    [SetUp]
    public void Prepare() { }
}
