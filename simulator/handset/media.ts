import { control, type Message, mediaUrl } from './api.ts'
import { el, svg } from './dom.ts'
import { type IconName, icon } from './icons.ts'
import { type Json, textAt } from './json.ts'
import { state } from './state.ts'
import { externalLink, isHttpUrl, seedOf } from './text.ts'

export type MediaKind = 'image' | 'video' | 'sticker' | 'audio' | 'document'

/** A file in a chat. Uploaded media are displayed. A linked file is not fetched; only its URL is shown. */
export function mediaView(kind: MediaKind, file: Json, message: Message): HTMLElement {
  if (kind === 'document') return documentView(file)
  if (kind === 'audio') return voiceView(file, message)
  const id = textAt(file, 'id')
  if (!id) return linkedView(kind, textAt(file, 'link'))
  if (kind === 'video') return videoView(id)
  const caption = textAt(file, 'caption')
  const picture = el('img', {
    class: kind,
    src: mediaUrl(id),
    alt: caption || (kind === 'sticker' ? 'Sticker' : 'Photo'),
    loading: 'lazy',
  })
  picture.addEventListener('error', () =>
    picture.replaceWith(placeholder(kind, 'The browser cannot display this image')),
  )
  return picture
}

function videoView(id: string): HTMLElement {
  const video = el('video', { class: 'video', src: mediaUrl(id), controls: true, preload: 'metadata' })
  video.addEventListener('error', () => video.replaceWith(placeholder('video', 'The browser cannot play this video')))
  return video
}

function linkedView(kind: MediaKind, link: string): HTMLElement {
  const host = isHttpUrl(link) ? new URL(link).hostname : ''
  const note = host ? externalLink(link, `from ${host}`, 'blank-link') : 'No file'
  return placeholder(kind, note)
}

/** A generated picture of hills, shown instead of an image that is not available. */
function placeholder(kind: MediaKind, note: HTMLElement | string): HTMLElement {
  const seed = seedOf(note instanceof HTMLElement ? note.title : note)
  const x = 60 + (seed % 120)
  const scene = svg(
    'svg',
    { viewBox: '0 0 240 136', preserveAspectRatio: 'xMidYMid slice', 'aria-hidden': 'true' },
    svg('circle', { class: 'glow', cx: x, cy: 62, r: 30 }),
    svg('circle', { class: 'sun', cx: x, cy: 62, r: 17 }),
    svg('path', {
      class: 'hill',
      d: `M0 136V92C40 ${60 + (seed % 23)} 70 70 116 88S200 ${66 + (seed % 17)} 240 84V136Z`,
    }),
    svg('path', {
      class: 'hill near',
      d: `M0 136V112C50 ${88 + (seed % 19)} 96 104 140 110S214 ${94 + (seed % 13)} 240 106V136Z`,
    }),
  )
  const drawing = icon(kind === 'video' ? 'film' : 'picture', 15)
  return el('div', { class: `blank shade-${seed % 8}` }, scene, el('span', { class: 'blank-note' }, drawing, note))
}

function documentView(file: Json): HTMLElement {
  const id = textAt(file, 'id')
  const link = textAt(file, 'link')
  const name = textAt(file, 'filename') || link.split('/').at(-1)?.split('?')[0] || 'Document'
  const kind = name.includes('.') ? (name.split('.').at(-1) ?? '') : textAt(file, 'mime_type').split('/').at(-1)
  const content = [
    el('span', { class: 'file-icon' }, icon('file', 22)),
    el('span', { class: 'file-words' }, el('strong', {}, name), el('span', {}, (kind || 'file').toUpperCase())),
  ]
  if (id)
    return el('a', { class: 'file', href: mediaUrl(id), download: name, 'aria-label': `Download ${name}` }, ...content)
  return externalLink(link, content, 'file')
}

const bars = 34

/** A voice message. Playing one from a business reports `played` to it. */
function voiceView(file: Json, message: Message): HTMLElement {
  const id = textAt(file, 'id')
  let seed = seedOf(id || textAt(file, 'link'))
  const wave = [...Array(bars).keys()].map((index) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const height = 4 + (seed / 2 ** 32) * 16 * Math.sin((Math.PI * (index + 1)) / (bars + 1))
    return svg('rect', { x: index * 4.6, y: 13 - height / 2, width: 2.6, height, rx: 1.3 })
  })
  const drawing = svg('svg', { class: 'wave', viewBox: `0 0 ${bars * 4.6} 26`, 'aria-hidden': 'true' }, ...wave)
  const length = el('span', { class: 'voice-length' }, '0:00')
  const audio = el('audio', { preload: 'metadata', ...(id ? { src: mediaUrl(id) } : {}) })
  const press = el('button', { type: 'button', class: 'voice-play', 'aria-label': 'Play' }, icon('play', 18))
  const show = (name: IconName, label: string) => {
    press.replaceChildren(icon(name, 18))
    press.setAttribute('aria-label', label)
  }
  const progress = () => {
    const share = audio.duration ? audio.currentTime / audio.duration : 0
    wave.forEach((bar, index) => void bar.classList.toggle('played', index / bars < share))
    length.textContent = minutes(audio.currentTime || audio.duration)
  }
  for (const name of ['timeupdate', 'loadedmetadata'] as const) audio.addEventListener(name, progress)
  audio.addEventListener('pause', () => show('play', 'Play'))
  audio.addEventListener('play', () => show('pause', 'Pause'))
  press.addEventListener('click', () => {
    if (message.direction === 'out') control.act(state.me, 'play', { message: message.id }).catch(() => {})
    if (!audio.paused) return audio.pause()
    audio.play().catch(() => {
      length.textContent = 'Cannot play'
    })
  })
  return el('div', { class: 'voice' }, press, drawing, length, audio)
}

function minutes(seconds: number): string {
  if (!Number.isFinite(seconds)) return '0:00'
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, '0')}`
}
