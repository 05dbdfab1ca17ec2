import { sendMessage } from './actions.ts'
import { button, el } from './dom.ts'
import { numberField } from './field.ts'
import { icon } from './icons.ts'
import { openSheet } from './sheet.ts'
import { state } from './state.ts'

const places = [
  { name: 'Brandenburg Gate', address: 'Pariser Platz, Berlin', latitude: 52.51628, longitude: 13.37771 },
  { name: 'Ferry Building', address: '1 Ferry Building, San Francisco', latitude: 37.79547, longitude: -122.3934 },
  { name: 'Plaza Mayor', address: 'Plaza Mayor, Madrid', latitude: 40.41546, longitude: -3.70741 },
  { name: 'Museu do Amanhã', address: 'Praça Mauá 1, Rio de Janeiro', latitude: -22.89408, longitude: -43.17971 },
]

/** Shares the current location, which has only coordinates, or a place, which also has a name and an address. */
export function openLocation(replyTo?: string): void {
  openSheet('Share a location', ({ close }) => {
    const send = (input: object, label: string) => {
      close()
      if (replyTo) state.replyTo = replyTo
      void sendMessage('location', input, label)
    }
    const latitude = numberField('Latitude', 'latitude', '52.5200', -90, 90)
    const longitude = numberField('Longitude', 'longitude', '13.4050', -180, 180)
    const sendCustom = () => {
      const [lat, lon] = [latitude.read(), longitude.read()]
      if (lat !== undefined && lon !== undefined) send({ latitude: lat, longitude: lon }, 'Location')
    }
    return [
      button(
        { class: 'choice with-icon accent' },
        () => send({ latitude: 52.52437, longitude: 13.41053 }, 'Current location'),
        icon('pin', 22),
        el(
          'span',
          {},
          el('strong', {}, 'Current location'),
          el('span', {}, 'Coordinates only, without name and address'),
        ),
      ),
      el('h3', {}, 'Places'),
      places.map((place) =>
        button(
          { class: 'choice' },
          () => send(place, place.name),
          el('strong', {}, place.name),
          el('span', {}, place.address),
        ),
      ),
      el('h3', {}, 'Custom coordinates'),
      el('div', { class: 'two' }, latitude.view, longitude.view),
      button({ class: 'primary' }, sendCustom, 'Send coordinates'),
    ]
  })
}
