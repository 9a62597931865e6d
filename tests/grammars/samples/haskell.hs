{-# LANGUAGE GADTs #-}
{-# LANGUAGE TypeFamilies, TemplateHaskell #-}

-- |
-- Parcels and their carriers.
module Depot.Parcel
  ( Parcel (..)
  , weigh
  , (<+>)
    -- * Carriers
  , Carrier (..)
  ) where

import qualified Data.Map as Map
import Data.List (sort)

-- | How much fits.
capacity :: Int
capacity = 40

limit = 3 -- beside

-- | A parcel on
-- its way.
data Parcel a = Parcel
  { number :: Int -- ^ its number
  , width, height :: a
  }
  deriving (Eq, Show)

-- | A size.
data Size
  = Small
  | Large Int
  -- ^ more than small
  | Int :*: Int
  | Box { inner :: Size }

data Nothing'

newtype Grams = Grams { grams :: Int } deriving newtype (Eq, Ord)

newtype Wrapped f = Wrap (f Int)

type Names = [String]

type a :+: b = Either a b

type Scale :: Type -> Type
data Scale a where
  -- | Even.
  Even :: Scale Int
  Odd, Uneven :: a -> Scale a
  Held :: { holder :: String } -> Scale Bool

type family Unit a where
  Unit Int = Grams
  Unit a = a

type family Open a
type instance Open Int = Bool

data family Store a
data instance Store Int = Full | Vacant
newtype instance Store Bool = Flag Bool

pattern Pair :: a -> b -> (a, b)
pattern Pair x y = (x, y)

pattern Head x <- x : _ where
  Head x = [x]

-- | What carries.
class (Show a) => Carrier a where
  {-# MINIMAL load #-}
  type Load a
  type Load a = Int

  -- | Loads it.
  load :: a -> Load a -> a
  default load :: Enum a => a -> Load a -> a
  load a _ = a

  first, second :: a -> Int
  -- ^ Both ends.

  (<+>) :: a -> a -> a
  infixl 6 <+>

instance Carrier Int where
  type Load Int = Int
  load a 0 = a
  load a n = a + n
  {-# INLINE load #-}

  first = id
  a <+> b = a + b

instance (Show a, Carrier a) => Carrier (Map.Map String a) where
  load :: Map.Map String a -> Load a -> Map.Map String a
  load = const

instance Convert [a] (Maybe a) where
  convert = \case
    [] -> Nothing
    (x : _) -> Just x

deriving instance Show (Scale a)

deriving stock instance Eq Size

-- About the section.

-- | Weighs it.
--
-- In grams.
weigh
  :: Parcel Int -- ^ what
  -> Int -- ^ grams
{-# INLINE weigh #-}
weigh (Parcel 0 _ _) = 0

-- Others weigh more.
weigh parcel
  | number parcel > limit = go 1
  | otherwise = scale 2
  where
    go :: Int -> Int
    go 0 = 0
    go n = go (n - 1)

    scale = \x -> x * factor
    factor = 2
    -- Indented, so inside.

-- | Joins.
(<++>) :: [a] -> [a] -> [a]
[] <++> b = b
(a : as) <++> b = a : (as <++> b)

x `plus` y = x + y

(f `after` g) x = f (g x)
infixr 9 `after`

one, two :: Int
one = 1
two = 2

(left, right) = (1, 2)

foreign import ccall unsafe "math.h sin" c_sin :: Double -> Double

makeLenses ''Parcel
$(deriveJSON defaultOptions ''Size)

[d|
  quoted :: Int
  quoted = 1
  |]

#if defined(FAST)
speed :: Int
speed = 2
#endif

-- | Starts.
main :: IO ()
main = do
  let double y = y * 2
      unused = 1
  print (double 2) >> mapM_ print [1 ..]
