import { button, type Child, el, fill } from './dom.ts'
import { labelOf } from './form-label.ts'
import { icon } from './icons.ts'
import { type Json, listAt, textAt } from './json.ts'
import { type FileInput, fileInput, sampleDocument, samplePicture } from './samples.ts'
import { sizeOf } from './text.ts'

/** Takes files, as many as the form allows; a sample is at hand. */
export function filePicker(
  part: Json,
  before: FileInput[],
): { view: HTMLElement; read: () => FileInput[] | undefined } {
  const isPhoto = textAt(part, 'type') === 'PhotoPicker'
  const noun = isPhoto ? 'photos' : 'documents'
  const min = Number(part[`min-uploaded-${noun}`] ?? 0)
  const max = Number(part[`max-uploaded-${noun}`] ?? 10)
  const files = [...before]
  const accept = isPhoto ? 'image/*' : listAt(part, 'allowed-mime-types').join(',')
  const input = el('input', {
    type: 'file',
    class: 'hidden-input',
    accept,
    multiple: max > 1,
    'aria-label': labelOf(part),
    tabindex: '-1',
  })
  const chosen = el('ul', { class: 'picked' })
  const words = el('p', { class: 'field-words' })
  const draw = () => {
    fill(
      chosen,
      ...files.map((file) =>
        el(
          'li',
          {},
          thumbnail(file),
          button(
            { class: 'round small', 'aria-label': `Remove ${file.filename}` },
            () => remove(file),
            icon('close', 14),
          ),
        ),
      ),
    )
    words.textContent = textAt(part, 'description') || `${files.length} of ${max}`
    for (const one of [add, sample]) one.disabled = files.length >= max
  }
  const remove = (file: FileInput) => {
    files.splice(files.indexOf(file), 1)
    draw()
  }
  const take = (some: FileInput[]) => {
    files.push(...some.slice(0, max - files.length))
    draw()
  }
  const add = button(
    { class: 'secondary' },
    () => input.click(),
    icon('plus', 18),
    isPhoto ? 'Add photos' : 'Add documents',
  )
  const sample = button(
    { class: 'secondary' },
    async () => take([await (isPhoto ? samplePicture() : sampleDocument())]),
    icon(isPhoto ? 'picture' : 'file', 18),
    'Use a sample',
  )
  input.addEventListener('change', async () => {
    take(await Promise.all([...(input.files ?? [])].map((file) => fileInput(file, file.name))))
    input.value = ''
  })
  const view = el(
    'div',
    { class: 'field', role: 'group', 'aria-label': labelOf(part) },
    el('p', { class: 'field-label' }, labelOf(part)),
    chosen,
    el('div', { class: 'two' }, add, sample),
    input,
    words,
  )
  draw()
  return {
    view,
    read() {
      const lacks = files.length < min
      view.classList.toggle('wrong', lacks)
      if (lacks) words.textContent = `At least ${min}.`
      return lacks ? undefined : files
    },
  }
}

function thumbnail({ base64, mimeType, filename }: FileInput): Child {
  const size = sizeOf(Math.floor((base64.length * 3) / 4))
  const picture = mimeType.startsWith('image/')
    ? el('img', { src: `data:${mimeType};base64,${base64}`, alt: '' })
    : el('span', { class: 'file-icon' }, icon('file', 20))
  return [picture, el('span', { class: 'file-words' }, el('strong', {}, filename), el('span', {}, size))]
}
