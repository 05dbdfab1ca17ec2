import type { ListedKey } from '@parley/contract/console/keys'
import { useNow } from '../../lib/clock.ts'
import { formatDay } from '../../lib/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Moment, TimeAgo } from '../../ui/time.tsx'
import styles from './keys.module.css'

const soonMs = 14 * 86_400_000

/** When a key expires, as a warning in the last two weeks. With `isExact` also the time. */
export function Expiry({ apiKey, isExact = false }: { apiKey: ListedKey; isExact?: boolean }) {
  const now = useNow()
  const { expires_at, state } = apiKey
  if (expires_at === null) return <span className="quiet">No expiry</span>
  const leftMs = Date.parse(expires_at) - now
  const isSoon = leftMs > 0 && leftMs < soonMs && state !== 'revoked'
  return (
    <span className="lines">
      {isExact ? <Moment at={expires_at} /> : <span>{formatDay(expires_at)}</span>}
      <span className={isSoon ? styles.soon : 'small quiet'}>
        {isSoon && <Icon name="warning" size={12} />}
        <span>
          {leftMs <= 0 ? 'expired ' : isSoon ? 'expires ' : ''}
          <TimeAgo at={expires_at} />
        </span>
      </span>
    </span>
  )
}
