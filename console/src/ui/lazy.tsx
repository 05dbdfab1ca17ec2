import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { whenReachable } from '../lib/reachable.ts'
import { createStore, useStore } from '../lib/store.ts'
import { Button } from './button.tsx'
import { EmptyState, LoadingLines } from './states.tsx'

/**
 * Parts of the console that are loaded when they are first shown. A part cannot be loaded while there is no connection, and
 * after an update its file no longer exists. It says so and reloads the page as soon as the service responds. Loading the
 * part again is not enough: browsers remember a failed import, and the bundler does not load a style sheet twice.
 */
type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/** A page. The router waits for it before it leaves the page before. */
export const lazyPage = (load: Load<object>) => lazy(load, null, () => <MissingPart isPage />)

/** A part of a page, such as a chart. `loading` is shown until it is loaded. */
export const lazyPart = <Props extends object>(load: Load<Props>, loading: ReactNode = <LoadingLines />) =>
  lazy(load, loading, () => <MissingPart />)

/** Whether a part was missing. From then on, this document loads no further parts. */
const isIncomplete = createStore(false)

function lazy<Props extends object>(load: Load<Props>, loading: ReactNode, Missing: ComponentType<Props>) {
  // A store, because the part may be loaded by something else between the drawing of `loading` and the effect.
  const loaded = createStore<ComponentType<Props> | null>(null)
  const preload = async (): Promise<void> => {
    if (loaded.get() || isIncomplete.get()) return
    try {
      const { default: part } = await load()
      loaded.set(() => part)
    } catch (error) {
      isIncomplete.set(true)
      console.warn('A part of the console could not be loaded.', error)
    }
  }
  function Lazy(props: Props) {
    const Loaded = useStore(loaded)
    const isMissing = useStore(isIncomplete)
    const isWanted = !('open' in props) || props.open !== false
    useEffect(() => {
      if (isWanted) void preload()
    }, [isWanted])
    if (Loaded) return <Loaded {...props} />
    if (!isWanted) return null
    return isMissing ? <Missing {...props} /> : loading
  }
  return Object.assign(Lazy, { preload })
}

function MissingPart({ isPage = false }: { isPage?: boolean }) {
  const [state, setState] = useState<'checking' | 'waiting' | 'broken'>('checking')
  useEffect(
    () =>
      whenReachable(
        () => (mayReload(isPage) ? location.reload() : setState('broken')),
        () => setState('waiting'),
      ),
    [isPage],
  )
  if (state === 'checking') return null
  const isWaiting = state === 'waiting'
  return (
    <div role="status">
      <EmptyState
        isPage={isPage}
        icon={isWaiting ? 'offline' : 'warning'}
        title={isWaiting ? 'Parley cannot be reached' : 'This could not be loaded'}
        action={
          <Button icon="retry" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        {isWaiting
          ? `Check your connection. ${isPage ? 'This page' : 'This'} opens when Parley responds again.`
          : 'Parley may have been updated. Reload the page.'}
      </EmptyState>
    </div>
  )
}

const reloadedAtKey = 'parley.reloaded-at'

/** Not again within 30 seconds, which would not help, and not while a form is open. */
function mayReload(isPage: boolean): boolean {
  if (!isPage && document.querySelector('[role="dialog"] form')) return false
  try {
    if (Date.now() - Number(sessionStorage.getItem(reloadedAtKey)) < 30_000) return false
    sessionStorage.setItem(reloadedAtKey, String(Date.now()))
    return true
  } catch {
    // Without the storage, it could reload forever.
    return false
  }
}
