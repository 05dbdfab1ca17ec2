import { button, type Child, el, fill } from './dom.ts'
import { labelOf } from './form-label.ts'
import { icon } from './icons.ts'
import { type Json, listAt, textAt } from './json.ts'
import { type FileInput, fileInput, sampleDocument, samplePicture } from './samples.ts'
import { sizeOf } from './text.ts'

/** Picks files up to the form's limit. A sample file can be used instead. */
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
  const hintView = el('p', { class: 'field-words' })
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
    hintView.textContent = textAt(part, 'description') || `${files.length} of ${max}`
    for (const one of [add, sample]) one.disabled = files.length >= max
  }
  const remove = (file: FileInput) => {
    files.splice(files.indexOf(file), 1)
    draw()
  }
  const addFiles = (added: FileInput[]) => {
    files.push(...added.slice(0, max - files.length))
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
    async () => addFiles([await (isPhoto ? samplePicture() : sampleDocument())]),
    icon(isPhoto ? 'picture' : 'file', 18),
    'Use a sample',
  )
  input.addEventListener('change', async () => {
    addFiles(await Promise.all([...(input.files ?? [])].map((file) => fileInput(file, file.name))))
    input.value = ''
  })
  const view = el(
    'div',
    { class: 'field', role: 'group', 'aria-label': labelOf(part) },
    el('p', { class: 'field-label' }, labelOf(part)),
    chosen,
    el('div', { class: 'two' }, add, sample),
    input,
    hintView,
  )
  draw()
  return {
    view,
    read() {
      const isMissing = files.length < min
      view.classList.toggle('wrong', isMissing)
      if (isMissing) hintView.textContent = min === 1 ? 'Add at least 1 file.' : `Add at least ${min} files.`
      return isMissing ? undefined : files
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
