import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import { ApiError } from '../lib/api.ts'
import { safeNext } from '../lib/next.ts'
import { sessionQuery } from '../lib/session.ts'
import { parseSearch, stringifySearch } from '../lib/url.ts'
import { lazyPage } from '../ui/lazy.tsx'
import { homeWorkspace } from './access.ts'
import { ErrorPage, NotFoundPage, NoWorkspacePage } from './fallbacks.tsx'
import { Layout } from './layout.tsx'
import { LoadingBar } from './loading-bar.tsx'
import { type Page, pages } from './pages.ts'
import { Splash } from './splash.tsx'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    page?: Page
  }
}

export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 200,
    defaultPendingComponent: Splash,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  })
}

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: () => (
    <>
      <LoadingBar />
      <Outlet />
    </>
  ),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('../pages/sign-in/sign-in.page.tsx').then((page) => ({ default: page.SignInPage }))),
})

const link = createRoute({
  getParentRoute: () => root,
  path: '/link',
  component: lazyPage(() => import('../pages/link/link.page.tsx').then((page) => ({ default: page.LinkPage }))),
})

/** All routes below need a session. Without one, the person signs in first and then returns. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Layout,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.client.ensureQueryData(sessionQuery)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const next = safeNext(location.href)
      throw redirect({ to: '/sign-in', search: (next === '/' ? {} : { next }) as never, replace: true })
    }
  },
})

const front = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: NoWorkspacePage,
  beforeLoad: async ({ context }) => {
    const session = await context.client.ensureQueryData(sessionQuery)
    const home = homeWorkspace(session)
    if (home) throw redirect({ to: '/w/$workspace', params: { workspace: home.id } as never, replace: true })
    if (session.person.operator) throw redirect({ to: '/operator/workspaces', replace: true })
  },
})

const routeTree = root.addChildren([
  signIn,
  link,
  signedIn.addChildren([
    front,
    ...pages.map((page) =>
      createRoute({
        getParentRoute: () => signedIn,
        path: page.path as '/account',
        component: lazyPage(page.load),
        staticData: { page },
      }),
    ),
  ]),
])
