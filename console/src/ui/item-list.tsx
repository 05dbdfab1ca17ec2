import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import styles from './item-list.module.css'

/** A short list, for example of a person's passkeys or devices. */
export const ItemList = ({ children }: { children: ReactNode }) => <ul className={styles.list}>{children}</ul>

interface ItemProps {
  icon: IconName
  name: ReactNode
  /** Tooltip of the name. */
  title?: string | undefined
  detail: ReactNode
  /** A button or a badge at the end. */
  children: ReactNode
}

export const Item = ({ icon, name, title, detail, children }: ItemProps) => (
  <li className={styles.item}>
    <Icon name={icon} />
    <div className={styles.words}>
      <span className={styles.name} title={title}>
        {name}
      </span>
      <span className="quiet small">{detail}</span>
    </div>
    {children}
  </li>
)
