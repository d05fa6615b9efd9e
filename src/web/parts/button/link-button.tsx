import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './button.module.css'

export interface LinkButtonProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly kind?: 'primary' | 'plain' | 'quiet'
  /** Why one cannot go there now. */
  readonly refusal?: string | undefined
  readonly children: ReactNode
}

/** A link to another page that stands where buttons stand. One that leads nowhere now says why. */
export function LinkButton({ to, search = {}, kind = 'plain', refusal, children }: LinkButtonProps) {
  const className = `${styles.button} ${styles.link} ${styles[kind]}`
  if (refusal === undefined) {
    return (
      <Link to={to} search={search} className={className}>
        {children}
      </Link>
    )
  }
  return (
    <a role="link" aria-disabled tabIndex={0} className={className} title={refusal}>
      {children}
      <span className="visually-hidden">: {refusal}</span>
    </a>
  )
}
