import { Link } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { parseSearch } from '../lib/url.ts'
import { Icon } from './icon.tsx'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> & { ref?: Ref<HTMLAnchorElement> }

/** A link to a page of the console: `/w/acme/keys?open=…`. Hovering it preloads the page's script. */
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

/** Whether a URL from outside may be rendered as a link. */
function isSafeHref(href: string): boolean {
  try {
    return allowed.has(new URL(href).protocol)
  } catch {
    return false
  }
}

/** A link out of the console. A URL with an unsafe scheme (javascript:, data:) stays plain text. */
export function ExternalLink({ href, children, className = 'link', ...rest }: Props & { href: string }) {
  if (!isSafeHref(href)) return <bdi>{children ?? href}</bdi>
  const isWeb = href.startsWith('http')
  return (
    <a
      href={href}
      className={className}
      rel="noopener noreferrer nofollow"
      {...(isWeb ? { target: '_blank' } : {})}
      {...rest}
    >
      <bdi>{children ?? href}</bdi>
      {isWeb && (
        <>
          {' '}
          <Icon name="external" size={11} className="inline" />
          <span className="unseen"> (opens in a new tab)</span>
        </>
      )}
    </a>
  )
}

/** Text from outside: it cannot change the direction of the text around it. */
export function SafeText({ children, className }: { children: string | null | undefined; className?: string }) {
  if (!children) return <span className="quiet">–</span>
  return <bdi className={className}>{children}</bdi>
}
