import { Link } from '@tanstack/react-router'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { type Scope, useRefusal } from '../../shell/session.tsx'
import styles from './button.module.css'

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  /** `primary` for the one main button of a page; `danger` for what cannot be undone easily. */
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** The scope that the key needs; without it, the button tells so and does nothing. */
  readonly needs?: Scope
  /** Why it cannot be pressed now. */
  readonly refusal?: string | undefined
  /** Whether its action is running. */
  readonly busy?: boolean
  readonly children: ReactNode
}

/** A button. A disabled one keeps the focus and tells why. */
export function Button({
  kind = 'plain',
  needs,
  refusal,
  busy = false,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const lacking = useRefusal(needs)
  const why = refusal ?? lacking
  const isOff = why !== undefined || busy
  return (
    <button
      type="button"
      {...rest}
      className={`${styles.button} ${styles[kind]}`}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      title={why ?? rest.title}
      onClick={(event) => (isOff ? event.preventDefault() : onClick?.(event))}
    >
      {children}
      {why !== undefined && <span className="visually-hidden">: {why}</span>}
    </button>
  )
}

interface LinkButtonProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly kind?: 'primary' | 'plain' | 'quiet'
  /** Why the link is disabled. */
  readonly refusal?: string | undefined
  readonly children: ReactNode
}

/** A link that looks like a button. A disabled one tells why. */
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

export interface MoreButtonProps {
  /** A list that is read page by page. */
  readonly of: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
  readonly children?: ReactNode
}

/** Loads the next page of a list, where there is one. */
export function MoreButton({ of, children = 'Show more' }: MoreButtonProps) {
  if (!of.hasNextPage) return null
  return (
    <Button busy={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
      {children}
    </Button>
  )
}
