import { search } from './search.mjs'

/** Results while you type, one language for all tabs, and buttons to copy code. Everything else works without it. */
const field = document.querySelector('#search')
const results = document.querySelector('.results')
let loading

const loadIndex = () => {
  loading ??= fetch('/docs/search.json').then((response) => response.json())
  return loading
}

field?.addEventListener('focus', () => void loadIndex())
field?.addEventListener('input', () => void show())
field?.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') results.hidden = true
  if (event.key === 'ArrowDown') {
    event.preventDefault()
    results.querySelector('a')?.focus()
  }
})
results?.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const links = [...results.querySelectorAll('a')]
  const next = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
  if (next < 0) field.focus()
  else links[next]?.focus()
})
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  field?.focus()
})

async function show() {
  const query = field.value
  const index = await loadIndex()
  if (query !== field.value) return
  results.replaceChildren()
  results.hidden = query.trim() === ''
  const found = search(index, query, 8)
  if (found.length === 0) results.append(element('p', `No results for “${query.trim()}”.`))
  for (const { href, title, heading } of found) {
    const link = element('a', heading === '' ? title : heading)
    link.href = href
    if (heading !== '') link.append(element('small', title))
    results.append(link)
  }
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

for (const tabs of document.querySelectorAll('.tabs')) {
  tabs.addEventListener('change', ({ target }) => {
    for (const each of document.querySelectorAll('.tabs input')) if (each.value === target.value) each.checked = true
  })
}

for (const block of document.querySelectorAll('pre')) {
  const button = element('button', 'Copy')
  button.type = 'button'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  block.prepend(button)
}
