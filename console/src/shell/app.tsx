import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { safeNext } from '../lib/next.ts'
import { createQueryClient } from '../lib/query.ts'
import { LiveRegion } from '../ui/live-region.tsx'
import { cssVariables, schemeManager, theme } from '../ui/theme.ts'
import { Toasts } from '../ui/toasts.tsx'
import { createAppRouter } from './router.tsx'

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
// react-remove-scroll reads the nonce from here for the style tag that locks scrolling behind a dialog.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const client = createQueryClient(signedOut)
const router = createAppRouter(client)

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      classNamesPrefix="p"
      getStyleNonce={() => nonce}
      deduplicateInlineStyles
    >
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <Toasts />
        <LiveRegion />
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** The session ended while a page was open: go to the sign-in page, which returns here afterwards. */
function signedOut(): void {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in' || pathname === '/link' || pathname.startsWith('/link/')) return
  const next = safeNext(href)
  // Clear the cache only after leaving: the current page still reads from it. The sign-in page reads its own data.
  void router
    .navigate({ to: '/sign-in', search: (next === '/' ? {} : { next }) as never, replace: true })
    .then(() => client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'sign-in' }))
}
