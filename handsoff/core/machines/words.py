"""The 256 words in which codes and fingerprints are spoken: one byte, one word.

Rules for a change: English words that most people can spell after hearing them, four to seven
letters, no two that start with the same three letters, and no two that are
fewer than three slips of the pen apart, so that a slip is told from a guess. Their order is part
of the protocol: both machines must spell a byte alike.
"""

from typing import Final

_TEXT: Final = """
acid acorn adobe alarm alley amber anchor angel ankle april arena armor atlas attic
autumn badge bamboo banjo basket beaver bishop bottle breeze bubble butter cabin cactus
camel canoe carpet castle cedar chalk cherry cinema circus clover cobra coffee copper
cotton cousin coyote cradle cushion daisy dancer delta denim desert diesel diploma
dolphin domino donkey dragon drummer dynamo eagle echo eclipse elbow emerald engine
envoy epoch equator evening fabric feather fiddle filter flannel flute forest fossil
frigate frozen galaxy garden gazelle geyser giant ginger glacier goblet gospel gravel
griffin guitar gypsum hamster harvest helmet heron hickory hobby horizon hotel hurdle
iceberg igloo indigo inkwell insect island ivory jaguar jasmine jelly jewel jigsaw
journal jubilee jungle kayak kennel kimono kingdom kitchen kiwi koala ladder lagoon
lamp lantern laptop lasso legend leopard library lilac limbo linen lizard lobster
locket lotus magnet mammoth marble meadow mentor mirror mitten mosaic muffin museum
napkin narrow nectar needle nephew nickel nimbus nomad nugget nutmeg oasis oboe ocean
octopus olive onion opera orbit orchid origami osprey oxygen palace panda papaya pastel
peanut pelican pencil petal phantom picnic pilot pirate plasma poem polar potato
prairie prism pumpkin puzzle pyramid python quartz queen quilt rabbit raft rainbow
recipe ribbon river rodeo rubber safari salmon scooter signal skater sketch slipper
smoke snail sofa spider sponge stadium stereo sugar summit sunset swan syrup talent
teapot temple tennis topaz torch tractor trophy trumpet tulip tundra turbine tuxedo
unicorn utopia vacuum vanilla vessel village violin visitor volcano voyage waffle
walnut whistle willow wolf wombat yacht yogurt zenith zephyr zigzag
"""
WORDS: Final = tuple(_TEXT.split())
