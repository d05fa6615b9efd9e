import { createHash } from 'node:crypto'

/** A Content-Security-Policy for a page that loads nothing from elsewhere, is framed by nobody, and runs just this style and script. */
export function pagePolicy({ style, script }: { readonly style: string; readonly script?: string }): string {
  return [
    "default-src 'none'",
    "img-src 'self'", // the icon that browsers ask for by themselves
    `style-src '${digest(style)}'`,
    ...(script === undefined ? [] : [`script-src '${digest(script)}'`]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
