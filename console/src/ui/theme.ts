import { type CSSVariablesResolver, createTheme, localStorageColorSchemeManager } from '@mantine/core'

/** Stores the color scheme; index.html reads it before the first paint. */
export const schemeManager = localStorageColorSchemeManager({ key: 'parley.theme' })

const pine = [
  '#effaf6',
  '#e2f0eb',
  '#b5d8cd',
  '#86c0b0',
  '#52a893',
  '#2b8b75',
  '#0e6655',
  '#0b5547',
  '#08443a',
  '#05231c',
] as const

/** Mantine uses our tokens. Only tokens.css has literal colors. */
export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: 6,
  colors: { pine },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  headings: { fontFamily: 'var(--font)' },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '11px', xl: '16px' },
  spacing: { xs: '4px', sm: '8px', md: '16px', lg: '24px', xl: '32px' },
  shadows: { xs: 'var(--raised)', sm: 'var(--raised)', md: 'var(--float)', lg: 'var(--float)', xl: 'var(--float)' },
  focusRing: 'auto',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Switch: { defaultProps: { withThumbIndicator: false } },
    Tooltip: {
      defaultProps: { openDelay: 250, transitionProps: { duration: 80 }, multiline: true, withinPortal: true },
    },
    Menu: {
      defaultProps: {
        shadow: 'md',
        offset: 6,
        position: 'bottom-end',
        transitionProps: { duration: 90, transition: 'pop' },
      },
    },
    Popover: { defaultProps: { shadow: 'md', offset: 6, transitionProps: { duration: 90, transition: 'pop' } } },
    Combobox: { defaultProps: { shadow: 'md', offset: 4 } },
    Select: {
      defaultProps: { allowDeselect: false, checkIconPosition: 'right', withScrollArea: false, maxDropdownHeight: 280 },
    },
    MultiSelect: { defaultProps: { checkIconPosition: 'right', withScrollArea: false, maxDropdownHeight: 280 } },
    Modal: {
      defaultProps: {
        transitionProps: { duration: 120, transition: 'fade-down' },
        overlayProps: { backgroundOpacity: 1 },
      },
    },
    Drawer: { defaultProps: { transitionProps: { duration: 160 }, overlayProps: { backgroundOpacity: 1 } } },
  },
})

export const cssVariables: CSSVariablesResolver = () => {
  const both = {
    '--mantine-color-body': 'var(--surface)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-bright': 'var(--ink)',
    '--mantine-color-dimmed': 'var(--ink-2)',
    '--mantine-color-placeholder': 'var(--ink-3)',
    '--mantine-color-anchor': 'var(--accent-ink)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--hover)',
    '--mantine-color-default-color': 'var(--ink)',
    '--mantine-color-default-border': 'var(--line-strong)',
    '--mantine-color-error': 'var(--bad)',
    '--mantine-color-disabled': 'var(--sunken)',
    '--mantine-color-disabled-color': 'var(--ink-3)',
    '--mantine-color-disabled-border': 'var(--line)',
    '--mantine-primary-color-filled': 'var(--accent)',
    '--mantine-primary-color-filled-hover': 'var(--accent-hover)',
    '--mantine-primary-color-contrast': 'var(--on-accent)',
    '--mantine-primary-color-light': 'var(--accent-soft)',
    '--mantine-primary-color-light-color': 'var(--accent-ink)',
    '--mantine-color-pine-filled': 'var(--accent)',
    '--mantine-color-pine-filled-hover': 'var(--accent-hover)',
  }
  return { variables: {}, light: both, dark: both }
}
