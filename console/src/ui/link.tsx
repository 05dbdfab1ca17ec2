import { Link } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { parseSearch } from '../lib/url.ts'
import { Icon } from './icon.tsx'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> & { ref?: Ref<HTMLAnchorElement> }

/** A link to a page of the console, by its path: `/w/acme/keys?open=…`. Its script is fetched as soon as it is hovered. */
export function PageLink({ to, className = 'link', ...rest }: Props & { to: string }) {
  const [beforeHash = '', hash] = to.split('#', 2)
  const [path, search] = beforeHash.split('?', 2)
  return (
    <Link
      to={path as string}
      search={parseSearch(search ?? '') as never}
      {...(hash ? { hash } : {})}
      className={className}
      activeOptions={{ exact: true, includeSearch: false }}
      {...rest}
    />
  )
}

const allowed = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/** Whether an address that came from outside may become a link. */
function isSafeHref(href: string): boolean {
  try {
    return allowed.has(new URL(href).protocol)
  } catch {
    return false
  }
}

/** A link out of the console. An address of another kind (javascript:, data:) stays plain text. */
export function ExternalLink({ href, children, className = 'link', ...rest }: Props & { href: string }) {
  if (!isSafeHref(href)) return <bdi>{children ?? href}</bdi>
  const leaves = href.startsWith('http')
  return (
    <a
      href={href}
      className={className}
      rel="noopener noreferrer nofollow"
      {...(leaves ? { target: '_blank' } : {})}
      {...rest}
    >
      <bdi>{children ?? href}</bdi>
      {leaves && (
        <>
          {' '}
          <Icon name="external" size={11} className="inline" />
          <span className="unseen"> (opens in a new tab)</span>
        </>
      )}
    </a>
  )
}

/** Text that a contact or another machine wrote: it cannot turn the direction of what stands beside it. */
export function SafeText({ children, className }: { children: string | null | undefined; className?: string }) {
  if (!children) return <span className="quiet">–</span>
  return <bdi className={className}>{children}</bdi>
}
