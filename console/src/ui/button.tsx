import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './button.module.css'
import { Icon, type IconName } from './icon.tsx'
import { PageLink } from './link.tsx'
import { Tip } from './tip.tsx'

interface Look {
  /** One primary per view; `quiet` has no border; `danger` is for actions that cannot be undone. */
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger'
  size?: 's' | 'm' | 'l'
  icon?: IconName
  fullWidth?: boolean
}

type ButtonProps = Look & ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean; ref?: Ref<HTMLButtonElement> }

/** A button. While `busy` it shows a spinner, keeps its width and ignores clicks. */
export function Button({ kind, size, icon, fullWidth, busy = false, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ kind, size, fullWidth }, className)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => (busy ? event.preventDefault() : rest.onClick?.(event))}
    >
      {icon && <Icon name={icon} size={14} />}
      <span className={styles.label}>{children}</span>
      {busy && <span className={styles.spinner} />}
    </button>
  )
}

/** A page link that looks like a button. */
export function ButtonLink({ to, kind, size, icon, fullWidth, children }: Look & { to: string; children: ReactNode }) {
  return (
    <PageLink to={to} className={classOf({ kind, size, fullWidth })}>
      {icon && <Icon name={icon} size={14} />}
      <span className={styles.label}>{children}</span>
    </PageLink>
  )
}

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  icon: IconName
  label: string
  /** With a border. */
  framed?: boolean
  ref?: Ref<HTMLButtonElement>
}

/** A button with only an icon. Its label is read by screen readers and shown in a tooltip. */
export function IconButton({ icon, label, framed = false, className, ...rest }: IconButtonProps) {
  return (
    <Tip text={label}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={[styles.icon, framed && styles.framed, className].filter(Boolean).join(' ')}
      >
        <Icon name={icon} />
      </button>
    </Tip>
  )
}

type Undefinable<Of> = { [Key in keyof Of]?: Of[Key] | undefined }

function classOf({ kind = 'secondary', size = 'm', fullWidth }: Undefinable<Look>, more?: string): string {
  return [styles.button, styles[kind], styles[size], fullWidth && styles.full, more].filter(Boolean).join(' ')
}
