import { Link } from '@tanstack/react-router'
import styles from './environment-dot.module.css'

/** An environment: a dot in its own hue, and its name. */
export function EnvironmentDot({ slug }: { readonly slug: string }) {
  return (
    <Link to="/env/$slug" params={{ slug }} className={styles.environment} title={`Runs in ${slug}`}>
      <span aria-hidden className={styles.dot} style={{ background: hueOf(slug) }} />
      {slug}
    </Link>
  )
}

/** A hue of an environment's own, the same everywhere, of six that colour-blind people tell apart. */
export function hueOf(slug: string): string {
  const known = KNOWN.indexOf(slug)
  if (known >= 0) return `var(--env-${known})`
  let hash = 7
  for (const character of slug) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 4093
  return `var(--env-${3 + (hash % 3)})`
}

/** Those that every project begins with never share a hue. */
const KNOWN = ['development', 'staging', 'production']
