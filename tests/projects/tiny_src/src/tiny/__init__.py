import six


def twice(number):
    return six.ensure_str(str(number * 2))


def main():
    print(twice(21))
