// The browser's part of the console. Pages work without it, except for what updates by itself.
// Behaviour is bound by data- attributes; each file is one behaviour.
import htmx from "htmx.org";
import "htmx-ext-ws";
import "./live.js";
import "./times.js";
import "./log.js";
import "./copy.js";
import "./menu.js";
import "./keys.js";
import "./pick.js";
import "./palette.js";
import "./look.js";
import "./form.js";
import "./leave.js";
import "./yaml.js";
import "./dual.js";
import "./current.js";
import "./navigation.js";

document.documentElement.dataset.script = "";

// A server that restarts is back within seconds, so the first tries come soon; the spread keeps a
// thousand pages from coming at once.
htmx.config.wsReconnectDelay = (tries) => Math.min(8000, 400 * 2 ** tries) * (0.5 + Math.random() / 2);
