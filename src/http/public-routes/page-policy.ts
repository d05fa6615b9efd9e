import { createHash } from 'node:crypto'

export interface PageParts {
  /** The content of the page's `<style>`. */
  readonly style: string
  /** Whether the page also loads styles, scripts and data from its own server. */
  readonly ownFiles?: boolean
}

/**
 * A Content-Security-Policy for a page that loads nothing from elsewhere, cannot be framed, and has only its
 * own styles and scripts.
 */
export function pagePolicy({ style, ownFiles = false }: PageParts): string {
  const inline = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
  return [
    "default-src 'none'",
    // The icon that browsers request by themselves; style sheets embed theirs.
    `img-src 'self'${ownFiles ? ' data:' : ''}`,
    `style-src ${ownFiles ? "'self' " : ''}${inline}`,
    ...(ownFiles ? ["script-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
