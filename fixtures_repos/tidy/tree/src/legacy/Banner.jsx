/** The offline banner, from before the move to TypeScript. */

import React, { useEffect, useState } from "react";

/** Follows the browser's online and offline events. */
export function useOnline() {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    window.addEventListener("online", update);
    window.addEventListener("offline", update);
    return () => {
      window.removeEventListener("online", update);
      window.removeEventListener("offline", update);
    };
  }, []);
  return online;
}

export default function OfflineBanner({ pending }) {
  const online = useOnline();
  if (online) {
    return null;
  }
  return <div role="status">You are offline; {pending} changes will be sent later.</div>;
}
