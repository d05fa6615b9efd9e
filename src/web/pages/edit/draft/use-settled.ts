import { useEffect, useState } from 'react'

/** What a value was when it last stood still for `pause` milliseconds: for what takes long to work out, and need not keep up with typing. */
export function useSettled<T>(value: T, pause: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause)
    return () => clearTimeout(timer)
  }, [value, pause])
  return settled
}
