import { el, svg } from './dom.ts'
import { icon } from './icons.ts'
import { type Json, textAt } from './json.ts'
import { externalLink, seedOf } from './text.ts'

/** A location. The map is generated from the coordinates, without requests, and is always the same for a location. */
export function placeCard(place: Json): HTMLElement {
  const latitude = Number(textAt(place, 'latitude'))
  const longitude = Number(textAt(place, 'longitude'))
  const name = textAt(place, 'name')
  const address = textAt(place, 'address')
  const spot = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
  return el(
    'div',
    { class: 'place' },
    el('div', { class: 'map' }, drawing(latitude, longitude), el('span', { class: 'map-pin' }, icon('pin', 30))),
    el(
      'div',
      { class: 'place-words' },
      el('strong', {}, name || 'Shared location'),
      address && el('span', {}, address),
      externalLink(
        `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`,
        spot,
        'quiet-link',
      ),
    ),
  )
}

function drawing(latitude: number, longitude: number): SVGElement {
  let seed = seedOf(`${latitude.toFixed(4)} ${longitude.toFixed(4)}`)
  const next = (from: number, to: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return from + (seed / 2 ** 32) * (to - from)
  }
  const tilt = next(-18, 18)
  const streets = [...Array(9).keys()].flatMap((index) => {
    const x = index * 38 - 30 + next(-8, 8)
    const y = index * 30 - 40 + next(-6, 6)
    const width = next(0, 1) > 0.72 ? 7 : 3
    return [
      svg('line', { class: 'street', x1: x, y1: -80, x2: x + next(-12, 12), y2: 230, 'stroke-width': width }),
      svg('line', { class: 'street', x1: -60, y1: y, x2: 340, y2: y + next(-10, 10), 'stroke-width': width }),
    ]
  })
  const bend = next(10, 120)
  const river = `M-60 ${bend} C 60 ${bend + next(-50, 50)}, 180 ${bend + next(-30, 90)}, 340 ${bend + next(-20, 60)}`
  const turned = svg(
    'g',
    { transform: `rotate(${tilt} 140 70)` },
    svg('rect', {
      class: 'park',
      x: next(-10, 180),
      y: next(-20, 80),
      width: next(50, 90),
      height: next(40, 70),
      rx: 6,
    }),
    svg('path', { class: 'river', d: river }),
    ...streets,
  )
  return svg('svg', { viewBox: '0 0 280 140', preserveAspectRatio: 'xMidYMid slice', 'aria-hidden': 'true' }, turned)
}
