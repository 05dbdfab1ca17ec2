import { useComputedColorScheme } from '@mantine/core'
import { ExternalLink } from '../ui/link.tsx'
import { type Handset, handsetLink } from './handset.ts'
import styles from './handset-panel.module.css'

/** The handset next to a page. `sender` is the phone number of the business in the open chat. */
export function HandsetPanel({ handset, sender }: { handset: Handset; sender: string | null }) {
  const theme = useComputedColorScheme()
  const person = handset.phone === null ? null : { phone: handset.phone }
  return (
    <section className={styles.panel} aria-label="Handset">
      <header className={styles.head}>
        <div>
          <h2 className={styles.title}>Handset</h2>
          <p className={styles.detail}>A simulated phone. Nothing reaches a real one.</p>
        </div>
        <ExternalLink href={handsetLink(handset, person, sender)}>Open</ExternalLink>
      </header>
      <iframe
        className={styles.frame}
        title="Handset"
        src={handsetLink(handset, person, sender, theme)}
        sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-downloads allow-top-navigation-by-user-activation"
      />
    </section>
  )
}
