/** The look of the console for the pages of the documentation that the service renders: /docs and /docs/api. */
const light = {
  canvas: '#faf9f6',
  surface: '#ffffff',
  sunken: '#f6f4f0',
  line: '#e9e5dd',
  ink: '#211e19',
  'ink-2': '#565047',
  'ink-3': '#6e675c',
  accent: '#0e6655',
  'code-comment': '#6e675c',
  'code-string': '#0e6655',
  'code-keyword': '#862f7a',
  'code-number': '#8f4a00',
  'code-name': '#1f5a99',
}
const dark: typeof light = {
  canvas: '#141310',
  surface: '#1c1a17',
  sunken: '#171613',
  line: '#2c2924',
  ink: '#edeae3',
  'ink-2': '#b9b2a6',
  'ink-3': '#979083',
  accent: '#6dd6bb',
  'code-comment': '#979083',
  'code-string': '#7fd1b9',
  'code-keyword': '#dba5e2',
  'code-number': '#e5b27c',
  'code-name': '#93bff2',
}

const variables = (colors: typeof light) =>
  Object.entries(colors)
    .map(([name, color]) => `--${name}: ${color};`)
    .join(' ')

const headerHeight = 52

/** Colors, and the header that leads back to the console. Scalar switches its theme with a class of the body. */
export const docsStyle = `
  :root, body.light-mode { color-scheme: light; ${variables(light)} }
  @media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; ${variables(dark)} } }
  body.dark-mode { color-scheme: dark; ${variables(dark)} }
  body { margin: 0; background: var(--canvas); color: var(--ink); font: 14px/1.6 Inter, system-ui, sans-serif; }
  .docs-header {
    position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: ${headerHeight}px; padding: 0 20px;
    display: flex; align-items: center; gap: 20px; background: var(--canvas); border-bottom: 1px solid var(--line);
    font-size: 14px;
  }
  .docs-header a { display: inline-flex; align-items: center; min-height: 44px; color: var(--ink-2); text-decoration: none; white-space: nowrap; }
  .docs-header a:hover, .docs-header a[aria-current] { color: var(--ink); }
  .docs-header a:focus-visible { outline: 2px solid var(--accent); border-radius: 5px; }
  .docs-header .home { gap: 9px; margin-right: auto; color: var(--ink); font-weight: 640; }
  @media (max-width: 480px) { .docs-header { gap: 14px; padding: 0 12px; } .docs-header .name, .docs-header a[href='/docs/errors'] { display: none; } }
  @media print { .docs-header { display: none; } }
`

/** The same colors for Scalar. */
export const scalarStyle = `
  body.light-mode, body.dark-mode {
    --scalar-custom-header-height: ${headerHeight}px;
    --scalar-background-1: var(--canvas); --scalar-background-2: var(--sunken); --scalar-background-3: var(--line);
    --scalar-color-1: var(--ink); --scalar-color-2: var(--ink-2); --scalar-color-3: var(--ink-3);
    --scalar-color-accent: var(--accent); --scalar-border-color: var(--line); --scalar-link-color: var(--accent);
  }
`

export const mark = `<svg xmlns="http://www.w3.org/2000/svg" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0e6655"/><path
  d="M9 25V13.5a6.5 6.5 0 0 1 6.5-6.5h1a6.5 6.5 0 0 1 0 13H14" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round"
  stroke-linejoin="round"/><circle cx="16" cy="13.5" r="1.9" fill="#8fe3c8"/></svg>`

const pages = { '/docs': 'Docs', '/docs/api': 'API reference', '/docs/errors': 'Errors' }

/** `search` is the form of the documentation; the API reference has its own. */
export const docsHeader = (current: keyof typeof pages, search = ''): string => `
    <header class="docs-header">
      <a class="home" href="/" aria-label="Parley console">${mark}<span class="name">Parley</span></a>${search}
      ${Object.entries(pages)
        .map(([path, title]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`)
        .join('\n      ')}
      <a href="/">Back to the console</a>
    </header>`
