import { tokenClasses } from './highlight.ts'

/** The colors of the console. */
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

const maxTabs = 6
const shownTab = Array.from(
  { length: maxTabs },
  (_, index) => `.tabs input:nth-of-type(${index + 1}):checked ~ pre:nth-of-type(${index + 1})`,
).join(', ')

const tokens = ['comment', 'string', 'keyword', 'number', 'name']
  .map((kind) => `pre .${tokenClasses[kind]} { color: var(--code-${kind}); }`)
  .join(' ')

/** The style sheet of the pages of the documentation. */
export const pageStyle = `
  :root { color-scheme: light; ${variables(light)} }
  @media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; ${variables(dark)} } }
  body { margin: 0; background: var(--canvas); color: var(--ink); font: 14px/1.6 Inter, system-ui, sans-serif; }
  .docs-header {
    position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 52px; padding: 0 20px;
    display: flex; align-items: center; gap: 20px; background: var(--canvas); border-bottom: 1px solid var(--line);
    font-size: 14px;
  }
  .docs-header a { display: inline-flex; align-items: center; min-height: 44px; color: var(--ink-2); text-decoration: none; white-space: nowrap; }
  .docs-header a:hover, .docs-header a[aria-current] { color: var(--ink); }
  .docs-header a:focus-visible { outline: 2px solid var(--accent); border-radius: 5px; }
  .docs-header .home { gap: 9px; margin-right: auto; color: var(--ink); font-weight: 640; }
  @media (max-width: 480px) { .docs-header { gap: 14px; padding: 0 12px; } .docs-header .name, .docs-header a[href='/docs/errors'] { display: none; } }
  @media print { .docs-header { display: none; } }
  html { scroll-padding-top: 4.5rem; }
  ${tokens}
  .skip { position: absolute; left: -999px; }
  .skip:focus { left: 12px; top: 8px; z-index: 20; padding: 8px 12px; background: var(--surface); color: var(--ink); }
  .columns { display: grid; grid-template-columns: 15rem minmax(0, 1fr) 13rem; gap: 2.5rem; max-width: 78rem; margin: 0 auto; padding: 0 1.25rem; }
  .side { grid-column: 1; grid-row: 1; }
  main { grid-column: 2; grid-row: 1; max-width: 46rem; width: 100%; margin: 2rem 0 4rem; outline: none; }
  .contents { grid-column: 3; grid-row: 1; font-size: .93em; }
  .side, .contents { position: sticky; top: 52px; align-self: start; max-height: calc(100vh - 52px); overflow: auto; box-sizing: border-box; padding: 1.75rem 8px 2rem; }
  .side h2:first-child { margin-top: 0; }
  .side h2, .contents h2 { margin: 1.4rem 0 .3rem; font-size: .86em; font-weight: 600; color: var(--ink-3); }
  .contents h2 { margin-top: 0; }
  .side ul, .contents ul { list-style: none; margin: 0; padding: 0; }
  .side li a, .contents li a { display: block; padding: 4px 8px; margin-left: -8px; border-radius: 6px; color: var(--ink-2); text-decoration: none; }
  .side li a:hover, .contents li a:hover, .side li a[aria-current] { background: var(--sunken); color: var(--ink); }
  .side li a[aria-current] { font-weight: 560; }
  .search { position: relative; flex: 0 1 20rem; margin: 0 auto 0 0; }
  .docs-header .home:has(+ .search) { flex: 1; margin-right: 0; }
  .unseen, .search label, .search .status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .search input { box-sizing: border-box; width: 100%; min-height: 38px; padding: 0 12px; font: inherit; color: var(--ink); background: var(--surface); border: 1px solid var(--line); border-radius: 9px; }
  .results { position: absolute; z-index: 11; inset: calc(100% + 6px) 0 auto; min-width: 100%; max-height: min(70vh, 30rem); overflow: auto; box-shadow: 0 8px 24px rgb(0 0 0 / 14%); background: var(--surface); border: 1px solid var(--line); border-radius: 9px; }
  .docs-header .results a { display: block; min-height: 0; padding: 8px 12px; white-space: normal; color: var(--ink); text-decoration: none; border-top: 1px solid var(--line); }
  .results a:first-child { border-top: 0; }
  .results a:hover, .results a:focus { background: var(--sunken); outline: none; }
  .results small { display: block; color: var(--ink-3); }
  .results p { margin: 0; padding: 8px 12px; color: var(--ink-2); }
  .to-menu { display: none; }
  h1 { margin: 0 0 .75rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.015em; }
  main h2 { margin: 2.4rem 0 .6rem; font-size: 1.15rem; letter-spacing: -.01em; }
  main h3 { margin: 1.8rem 0 .5rem; font-size: 1rem; }
  main p, main li { color: var(--ink-2); overflow-wrap: anywhere; }
  main li { margin: .3rem 0; }
  main strong { color: var(--ink); }
  main a { color: var(--accent); text-underline-offset: 2px; }
  a:focus-visible, summary:focus-visible, input:focus-visible, pre:focus-visible, .table:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
  main h2 a:not(.anchor), main h1 a { color: inherit; }
  .anchor { padding: 0 .3em; font-weight: 400; color: var(--ink-3); text-decoration: none; opacity: 0; }
  h2:hover .anchor, h3:hover .anchor, .anchor:focus { opacity: 1; }
  code { font-family: "JetBrains Mono", ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
  td code { overflow-wrap: normal; }
  p code, li code, td code { padding: .1em .3em; background: var(--sunken); border-radius: 4px; }
  pre { position: relative; margin: 1rem 0; padding: 14px 16px; overflow: auto; background: var(--surface); border: 1px solid var(--line); border-radius: 11px; line-height: 1.55; }
  pre code { overflow-wrap: normal; color: var(--ink); }
  pre button { position: sticky; float: right; right: 0; margin: -6px -8px 0 8px; min-height: 28px; padding: 0 10px; font: inherit; font-size: 12px; color: var(--ink-2); background: var(--sunken); border: 1px solid var(--line); border-radius: 7px; cursor: pointer; }
  @media (hover: hover) { pre button { opacity: 0; } pre:hover button, pre button:focus-visible { opacity: 1; } }
  @media (hover: none) { pre button { position: static; float: none; display: block; margin: 0 0 8px auto; } }
  .table { margin: 1rem 0; overflow: auto; border: 1px solid var(--line); border-radius: 11px; background: var(--surface); }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: 8px 12px; text-align: left; vertical-align: top; border-top: 1px solid var(--line); color: var(--ink-2); min-width: 5rem; }
  thead th, thead td { border-top: 0; font-weight: 560; color: var(--ink); }
  thead:not(:has(th)) { display: none; }
  blockquote { margin: 1rem 0; padding: 0 1rem; border-left: 3px solid var(--line); }
  .tabs { margin: 1rem 0; padding: 0; border: 0; min-width: 0; }
  .tabs legend, .tabs input { position: absolute; opacity: 0; width: 1px; height: 1px; overflow: hidden; }
  .tabs label { display: inline-flex; align-items: center; min-height: 34px; padding: 0 12px; color: var(--ink-2); border-radius: 8px; cursor: pointer; }
  .tabs input:checked + label { background: var(--sunken); color: var(--ink); font-weight: 560; box-shadow: inset 0 0 0 1px var(--line); }
  .tabs input:focus-visible + label { outline: 2px solid var(--accent); }
  .tabs pre { display: none; margin: .5rem 0 0; }
  ${shownTab} { display: block; }
  .cards { list-style: none; margin: .6rem 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 12px; }
  .cards li { margin: 0; padding: 12px 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 11px; }
  .cards a { font-weight: 560; }
  .cards p { margin: .25rem 0 0; font-size: .95em; }
  .found, .reference ul { list-style: none; padding: 0; }
  .reference ul { margin: .6rem 0; border-top: 1px solid var(--line); }
  .reference li { margin: 0; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .reference li ul { margin: .5rem 0 0; }
  .reference li li:last-child { border-bottom: 0; }
  .reference li strong code, .reference summary code { background: none; padding: 0; color: var(--ink); font-weight: 600; }
  .reference li em { font-style: normal; color: var(--ink-3); font-size: .93em; }
  .reference li em code { background: none; padding: 0; }
  .reference li strong:not(:has(code)) { color: var(--code-number); font-size: .93em; font-weight: 500; }
  .reference h2 { margin-top: 2.6rem; padding-top: 1.8rem; border-top: 1px solid var(--line); }
  .reference h2 + pre { margin-top: .4rem; }
  details { margin-top: .4rem; }
  .reference details > ul, details > pre { margin-left: .35rem; padding-left: 1rem; border-left: 2px solid var(--line); }
  li > details:first-child { margin-top: 0; }
  summary { width: fit-content; padding: 2px 6px 2px 2px; border-radius: 6px; color: var(--accent); cursor: pointer; }
  summary:hover { background: var(--sunken); }
  .found p { margin: .2rem 0 1.1rem; }
  .source { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .93em; }
  main :target { box-shadow: -10px 0 0 var(--canvas), -13px 0 0 var(--accent); }
  @media (max-width: 75rem) { .columns { grid-template-columns: 14rem minmax(0, 1fr); } .contents { display: none; } }
  @media (max-width: 52rem) {
    .columns { display: block; }
    main { margin: 1.25rem 0 2rem; }
    .docs-header { position: relative; flex-wrap: wrap; height: auto; padding-bottom: 10px; }
    .search { order: 1; flex: 1 0 100%; }
    .to-menu { display: inline-flex; align-items: center; min-height: 44px; }
    .side { position: static; max-height: none; padding: 1.5rem 0 3rem; border-top: 1px solid var(--line); }
    .side li a { display: flex; align-items: center; min-height: 44px; padding-block: 0; }
    .search input, .tabs label, pre button, summary { min-height: 44px; }
    summary { display: list-item; line-height: 44px; padding-block: 0; }
    .docs-header .results a { min-height: 44px; box-sizing: border-box; }
  }
  @media print {
    .side, .contents, .source, .to-menu, .anchor, pre button, .tabs label { display: none; }
    .columns { display: block; max-width: none; }
    main { max-width: none; margin: 0; }
    main a { color: inherit; }
    pre { white-space: pre-wrap; overflow-wrap: anywhere; break-inside: avoid; }
    .table { overflow: visible; }
    h1, h2, h3 { break-after: avoid; }
  }
`
