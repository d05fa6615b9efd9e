import type { ReactNode } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './markdown.module.css'

/** Markdown that anybody may have written: HTML in it is shown as text, images are their descriptions, links lead to http and https only. */
export default function Markdown({ text }: { readonly text: string }) {
  return (
    <div className={styles.markdown} dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} urlTransform={(url) => url} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

const COMPONENTS = {
  a: ({ href, children }: { readonly href?: string | undefined; readonly children?: ReactNode }) =>
    isWeb(href) ? (
      <a href={href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
    ) : (
      <span title={href}>{children}</span>
    ),
  img: ({ alt = '', src }: { readonly alt?: string | undefined; readonly src?: unknown }) => (
    <span className={styles.image} title={`Images are not loaded: ${String(src)}`}>
      {alt === '' ? 'image' : alt}
    </span>
  ),
  // The page has its own headings; those of a text are two levels below them.
  h1: heading,
  h2: heading,
  h3: heading,
  table: ({ children }: { readonly children?: ReactNode }) => (
    <div className={styles.table} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
}

function heading({ children }: { readonly children?: ReactNode }) {
  return <h3>{children}</h3>
}

function isWeb(href: string | undefined): boolean {
  return href !== undefined && /^https?:\/\//i.test(href)
}
