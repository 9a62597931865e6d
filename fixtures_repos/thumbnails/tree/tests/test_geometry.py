import pytest

from thumbs.geometry import Box, Size, center_crop, fit_within, parse_size


def test_landscape_is_fitted_by_its_width():
    assert fit_within(Size(4000, 3000), 320) == Size(320, 240)


def test_small_pictures_are_never_enlarged():
    assert fit_within(Size(20, 10), 320) == Size(20, 10)


def test_square_crop_of_a_panorama_is_centred():
    assert center_crop(Size(300, 100), 1.0) == Box(100, 0, 200, 100)


def test_one_number_means_a_square():
    assert parse_size("48") == Size(48, 48)


class TestBox:
    def test_touching_boxes_share_nothing(self):
        with pytest.raises(Box.Empty):
            Box(0, 0, 10, 10).intersect(Box(10, 0, 20, 10))
