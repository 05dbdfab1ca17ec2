import { useRouterState } from '@tanstack/react-router'
import styles from './loading-bar.module.css'

/** A thin line at the top while a page loads. */
export function LoadingBar() {
  const isLoading = useRouterState({ select: (state) => state.isLoading })
  return <div className={styles.bar} data-on={isLoading || undefined} aria-hidden="true" />
}
