import { sendMessage } from './actions.ts'
import { button, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import {
  type FileInput,
  fileInput,
  sampleDocument,
  samplePicture,
  sampleSticker,
  sampleVideo,
  sampleVoice,
} from './samples.ts'
import { openSheet } from './sheet.ts'
import { sizeOf } from './text.ts'

const kinds = {
  picture: { title: 'Send a photo', accept: 'image/*,video/*', sample: samplePicture },
  video: { title: 'Send a video', accept: 'video/*', sample: sampleVideo },
  sticker: { title: 'Send a sticker', accept: 'image/webp', sample: sampleSticker },
  document: { title: 'Send a document', accept: '', sample: sampleDocument },
  voice: { title: 'Send a voice message', accept: 'audio/*', sample: sampleVoice },
}

/** Sends a file. A sample is preselected. */
export function openFile(kind: keyof typeof kinds): void {
  const { title, accept, sample } = kinds[kind]
  const hasCaption = kind !== 'voice' && kind !== 'sticker'
  openSheet(title, ({ close }) => {
    let chosen: FileInput | undefined
    const preview = el('div', { class: 'preview' })
    const caption = el('input', {
      type: 'text',
      class: 'caption',
      placeholder: 'Add a caption',
      'aria-label': 'Caption',
      maxlength: 1024,
    })
    const send = el('button', { type: 'button', class: 'primary', disabled: true }, 'Send')
    const picker = el('input', {
      type: 'file',
      class: 'hidden-input',
      accept,
      'aria-label': 'Choose a file',
      tabindex: '-1',
    })
    const select = (file: FileInput) => {
      chosen = file
      send.disabled = false
      fill(preview, previewOf(file))
    }
    picker.addEventListener('change', async () => {
      const [file] = picker.files ?? []
      if (file) select(await fileInput(file, file.name))
    })
    send.addEventListener('click', () => {
      if (!chosen) return
      close()
      const captionInput = !hasCaption || !caption.value.trim() ? {} : { caption: caption.value.trim() }
      void sendMessage(actionFor(kind, chosen.mimeType), { ...chosen, ...captionInput }, chosen.filename)
    })
    void sample().then(select)
    return [
      preview,
      hasCaption && caption,
      el(
        'div',
        { class: 'two' },
        button({ class: 'secondary' }, () => picker.click(), icon('plus', 18), 'Choose a file'),
        send,
      ),
      picker,
    ]
  })
}

function actionFor(kind: keyof typeof kinds, mimeType: string): string {
  if (kind === 'picture') return mimeType.startsWith('video/') ? 'video' : 'image'
  return kind
}

function previewOf({ base64, mimeType, filename }: FileInput): HTMLElement {
  const size = sizeOf(Math.floor((base64.length * 3) / 4))
  if (mimeType.startsWith('image/'))
    return el(
      'figure',
      {},
      el('img', { src: `data:${mimeType};base64,${base64}`, alt: filename }),
      el('figcaption', {}, `${filename} · ${size}`),
    )
  const drawing = icon(mimeType.startsWith('audio/') ? 'mic' : mimeType.startsWith('video/') ? 'film' : 'file', 30)
  return el(
    'figure',
    { class: 'plain' },
    el('span', { class: 'file-icon' }, drawing),
    el('figcaption', {}, `${filename} · ${size}`),
  )
}
