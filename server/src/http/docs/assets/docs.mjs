/** Results while you type, one language for all tabs, and buttons to copy code. Everything else works without it. */
const field = document.querySelector('#search')
const results = document.querySelector('.results')
const status = document.querySelector('.search .status')
let asked = new AbortController()

field?.addEventListener('input', () => void show())
field?.addEventListener('focus', () => {
  results.hidden = results.childElementCount === 0
})
document.querySelector('.search')?.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    // Not also empty the field, if there is a list to close.
    if (!results.hidden) event.preventDefault()
    field.focus()
    close()
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const stops = [field, ...(results.hidden ? [] : results.querySelectorAll('a'))]
  stops[stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
})
document.addEventListener('click', ({ target }) => {
  if (!target.closest('.search')) close()
})
document.addEventListener('focusin', ({ target }) => {
  if (!target.closest('.search')) close()
})
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')
  const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
  const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
  if (!isShortcut && !isSlash) return
  event.preventDefault()
  field?.focus()
  field?.select()
})

function close() {
  if (results) results.hidden = true
}

/** Only the last request counts. */
async function show() {
  const query = field.value.trim()
  asked.abort()
  asked = new AbortController()
  if (query === '') {
    results.replaceChildren()
    status.textContent = ''
    close()
    return
  }
  try {
    const response = await fetch(`/docs/search.json?q=${encodeURIComponent(query)}`, { signal: asked.signal })
    if (!response.ok) throw new Error(`status ${response.status}`)
    list(query, await response.json())
  } catch (error) {
    if (error.name === 'AbortError') return
    fill(element('p', 'The search is not available. Try again.'))
  }
}

function list(query, found) {
  const links = found.map(({ href, title, heading }) => {
    const link = element('a', heading === '' ? title : heading)
    link.href = href
    if (heading !== '') link.append(element('small', title))
    return link
  })
  if (links.length === 0) fill(element('p', `No results for “${query}”.`))
  else fill(...links)
  status.textContent = links.length === 1 ? '1 result' : `${links.length || 'No'} results`
}

/** If a result had the focus, the result in its place has it afterwards, or the field. */
function fill(...nodes) {
  const index = [...results.children].indexOf(document.activeElement)
  results.replaceChildren(...nodes)
  results.hidden = false
  if (index >= 0) (results.querySelectorAll('a')[index] ?? field).focus()
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

// The entry of this page may be below the end of the navigation, which scrolls by itself on wide screens.
const side = document.querySelector('.side')
const here = side?.querySelector('[aria-current]')
if (here && side.scrollHeight > side.clientHeight) {
  side.scrollTop += here.getBoundingClientRect().bottom - side.getBoundingClientRect().bottom + 40
}

/** Tabs: the language that was chosen last, on every page. */
const storageKey = 'docs-language'
const choose = (language) => {
  for (const each of document.querySelectorAll('.tabs input')) if (each.value === language) each.checked = true
}

for (const tabs of document.querySelectorAll('.tabs')) {
  tabs.addEventListener('change', ({ target }) => {
    const before = target.getBoundingClientRect().top
    choose(target.value)
    // Tabs above have another height now.
    scrollBy(0, target.getBoundingClientRect().top - before)
    try {
      localStorage.setItem(storageKey, target.value)
    } catch {
      // The browser does not store anything.
    }
  })
}
try {
  choose(localStorage.getItem(storageKey))
} catch {
  // The browser does not store anything.
}

for (const block of document.querySelectorAll('pre')) {
  const button = element('button', 'Copy')
  button.type = 'button'
  button.addEventListener('click', async () => {
    // Browsers have no clipboard for pages over plain HTTP, except on this machine.
    const isCopied = await copy(block.querySelector('code'))
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  block.prepend(button)
}

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(code)
    return false
  }
}
